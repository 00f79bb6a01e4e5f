# frozen_string_literal: true

# Who is signed in (whoami), and the signed redirect (bridge). For app/controllers/; as it is it suits Devise. Without
# Devise, write `member` and `ask_for_sign_in` as your site knows them.
class CoursegateController < ApplicationController
  skip_before_action :authenticate_user!, raise: false
  before_action { response.headers['Cache-Control'] = 'no-store' }

  def whoami
    response.headers['Vary'] = 'Cookie'
    return render(json: { error: 'not_signed_in' }, status: :unauthorized) if member.nil?

    render json: { id: member.id.to_s, email: member.email.to_s, name: member.try(:name).to_s, version: Coursegate.version(member) }
  end

  # Asks for a sign-in when there is none, and sends the browser back to the gate with a signed answer.
  def bridge
    nonce, return_to = Coursegate.read_bridge(request.query_string)
    return render(json: { error: 'invalid_request' }, status: :bad_request) if nonce.nil?
    return ask_for_sign_in if member.nil?

    sso = Base64.strict_encode64(URI.encode_www_form(
      nonce: nonce, external_id: member.id.to_s, email: member.email.to_s, username: member.try(:username).to_s,
      name: member.try(:name).to_s, version: Coursegate.version(member)
    ))
    url = URI(return_to)
    url.query = URI.encode_www_form(URI.decode_www_form(url.query.to_s) + [['sso', sso], ['sig', Coursegate.sign(sso)]])
    response.headers['Referrer-Policy'] = 'no-referrer'
    redirect_to url.to_s, allow_other_host: true
  end

  private

  # An assertion signs nobody in: it is for one request.
  def member
    coursegate.nil? ? current_user : nil
  end

  # Comes back to this address afterwards.
  def ask_for_sign_in
    return head(:unauthorized) if coursegate

    authenticate_user!
  end
end
