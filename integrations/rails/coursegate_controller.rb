# frozen_string_literal: true

# Returns who is signed in (whoami), and signs members in for the gate (bridge). Put this file in app/controllers/. It works
# with Devise unchanged. Without Devise, rewrite `signed_in_at` and `ask_for_sign_in` for your site.
class CoursegateController < ApplicationController
  skip_before_action :authenticate_user!, raise: false
  before_action { response.headers['Cache-Control'] = 'no-store' }

  def whoami
    response.headers['Vary'] = 'Cookie'
    return render(json: { error: 'not_signed_in' }, status: :unauthorized) if member.nil?

    render json: { id: member.id.to_s, **shown }
  end

  # Signs the member in if needed, and redirects the browser back to the gate with a signed response.
  def bridge
    nonce, return_to, prompt, max_age = Coursegate.read_bridge(request.query_string)
    return render(json: { error: 'invalid_request' }, status: :bad_request) if nonce.nil?
    if member.nil? || %w[login select_account].include?(prompt) || too_old?(max_age)
      # `again` leaves out `prompt` and `max_age`: a member who returns from the login page is not sent there again.
      again = Coursegate.signed(nonce: nonce, return_sso_url: return_to)
      return ask_for_sign_in("#{request.path}?#{again.to_query}")
    end
    answer = Coursegate.signed(nonce: nonce, external_id: member.id.to_s, username: member.try(:username).to_s, **shown)
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

  # Of the member, with what is not known left out.
  def shown
    confirmed = member.confirmed_at.present? if member.respond_to?(:confirmed_at)
    { email: member.email.to_s, name: member.try(:name).to_s, version: Coursegate.version(member),
      auth_time: signed_in_at, email_verified: confirmed }.compact
  end

  def too_old?(max_age)
    !max_age.nil? && Time.now.to_i - signed_in_at.to_i > max_age
  end

  # When this session signed in, in Unix seconds; nil if it is not known.
  def signed_in_at
    request.env['warden']&.session(Coursegate.settings.scope)&.[](Coursegate::SIGNED_IN_AT)
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
