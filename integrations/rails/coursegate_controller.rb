# frozen_string_literal: true

# Returns who is signed in (whoami), and signs members in for the gate (bridge). Put this file in app/controllers/. It works
# with Devise unchanged. Without Devise, rewrite `member` and `ask_for_sign_in` for your site.
class CoursegateController < ApplicationController
  skip_before_action :authenticate_user!, raise: false
  before_action { response.headers['Cache-Control'] = 'no-store' }

  def whoami
    response.headers['Vary'] = 'Cookie'
    return render(json: { error: 'not_signed_in' }, status: :unauthorized) if member.nil?

    render json: { id: member.id.to_s, email: member.email.to_s, name: member.try(:name).to_s, version: Coursegate.version(member) }
  end

  # Signs the member in if needed, and redirects the browser back to the gate with a signed response.
  def bridge
    nonce, return_to, another = Coursegate.read_bridge(request.query_string)
    return render(json: { error: 'invalid_request' }, status: :bad_request) if nonce.nil?
    if another || member.nil?
      # `again` leaves out `prompt`: a member who returns from the login page is not sent there again.
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

  # The session's member. An assertion does not count as a sign-in: it is valid for one request only.
  def member
    coursegate.nil? ? current_user : nil
  end

  # Redirects to the login page, which redirects to `return_to`. Signs the member out first, because Devise shows its login
  # page only to visitors who are not signed in.
  def ask_for_sign_in(return_to)
    return head(:unauthorized) if coursegate

    scope = Coursegate.settings.scope
    sign_out(scope)
    store_location_for(scope, return_to)
    redirect_to new_session_path(scope)
  end
end
