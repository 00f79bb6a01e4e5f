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
    nonce, return_to, another = Coursegate.read_bridge(request.query_string)
    return render(json: { error: 'invalid_request' }, status: :bad_request) if nonce.nil?
    if another || member.nil?
      # Whoever comes back from the login page has chosen: asked again, the question is the same without that wish.
      again = Coursegate.signed(nonce: nonce, return_sso_url: return_to)
      return ask_for_sign_in("#{request.path}?#{again.to_query}")
    end
    answer = Coursegate.signed(
      nonce: nonce, external_id: member.id.to_s, email: member.email.to_s, username: member.try(:username).to_s,
      name: member.try(:name).to_s, version: Coursegate.version(member)
    )
    url = URI(return_to)
    url.query = URI.encode_www_form(URI.decode_www_form(url.query.to_s) + answer.to_a)
    response.headers['Referrer-Policy'] = 'no-referrer'
    redirect_to url.to_s, allow_other_host: true
  end

  private

  # An assertion signs nobody in: it is for one request.
  def member
    coursegate.nil? ? current_user : nil
  end

  # The login page; from there to `return_to`. Devise's shows itself only to those who are not signed in.
  def ask_for_sign_in(return_to)
    return head(:unauthorized) if coursegate

    scope = Coursegate.settings.scope
    sign_out(scope)
    store_location_for(scope, return_to)
    redirect_to new_session_path(scope)
  end
end
