# frozen_string_literal: true

# Rails behind coursegate: runs the gate's requests as the member (Coursegate::Assertion, a Rack middleware), signs what
# CoursegateController returns, and revokes members' connections (Coursegate::Member, a concern). Put this file in lib/. It
# has no dependencies. See README.md.

require 'base64'
require 'digest'
require 'erb'
require 'json'
require 'net/http'
require 'openssl'
require 'securerandom'
require 'uri'

module Coursegate
  # In seconds: the allowed clock skew, how long keys are cached, and the minimum time between two fetches of keys.
  LEEWAY = 10
  KEYS_KEPT = 600
  FETCH_PAUSE = 30
  # How long a member's request waits for the gate, in seconds.
  TELL_WITHIN = 2

  # The gate's keys are unavailable, so the assertion cannot be checked.
  class Unverifiable < StandardError; end

  # The defaults of find_member and version_of suit Devise's User. With has_secure_password, set version_of to
  # `->(m) { m.password_digest }`.
  Settings = Struct.new(:origin, :pages_origin, :upstream, :secret, :jwks_url, :fetch_pause, :scope, :find_member, :version_of,
                        :bound_only, :admin_url, :admin_secret,
                        keyword_init: true) do
    def initialize(**given)
      super(jwks_url: "#{given[:origin]}/.well-known/jwks.json", fetch_pause: FETCH_PAUSE, scope: :user,
            find_member: ->(id) { User.find_by(id: id) }, version_of: ->(member) { member.authenticatable_salt }, **given)
      self.pages_origin = origin if pages_origin.to_s.empty?
      { origin: origin, pages_origin: pages_origin }.each do |name, value|
        raise ArgumentError, "Coursegate: #{name} must be an origin, without a path or final slash" unless value.to_s =~ %r{\Ahttps?://[^/?#@\s]+\z}
      end
      raise ArgumentError, "Coursegate: upstream must be this backend's name in coursegate.yaml" if upstream.to_s.empty?
      raise ArgumentError, 'Coursegate: secret must have 32 characters or more' if secret.to_s.length < 32
      return if admin_url.to_s.empty? || !admin_secret.to_s.empty?

      raise ArgumentError, "Coursegate: admin_secret must be the gate's admin.hmac.secret"
    end
  end

  class << self
    attr_reader :settings, :keys

    def configure(**given)
      @settings = Settings.new(**given)
      @keys = Keys.new(@settings.jwks_url, @settings.fetch_pause)
    end

    def sign(sso)
      OpenSSL::HMAC.hexdigest('SHA256', settings.secret, sso)
    end

    def signed(fields)
      sso = Base64.strict_encode64(URI.encode_www_form(fields))
      { sso: sso, sig: sign(sso) }
    end

    # Changes with the password, and reveals nothing about it.
    def version(member)
      key = Rails.application.key_generator.generate_key('coursegate version', 32)
      OpenSSL::HMAC.hexdigest('SHA256', key, "#{member.id}\n#{settings.version_of.call(member)}")[0, 32]
    end

    # Revokes a member's connections at the gate, so that their apps are refused from the next request on. Waits two seconds
    # at most and never raises. If it fails, the error is logged, and the connections end later, when the gate sees the
    # member's new version.
    def end_connections(id, reason)
      safely { Thread.new { tell(id.to_s, reason) }.join(TELL_WITHIN) unless settings.admin_url.to_s.empty? }
    end

    # For what Rails calls while the site works for a member: a failure is logged, and the site's own work goes on.
    def safely
      yield
    rescue StandardError => e
      Rails.logger&.error("coursegate: #{e.class}: #{e.message}")
      nil
    end

    # The gate's request: the nonce, the return URL, `prompt` and `max_age`; nil if its signature is invalid. The signature
    # covers the base64 text, not the decoded fields.
    def read_bridge(query_string)
      query = URI.decode_www_form(query_string)
      ssos, sigs = %w[sso sig].map { |name| query.filter_map { |key, value| value if key == name } }
      return unless ssos.one? && sigs.one? && OpenSSL.secure_compare(sign(ssos[0]), sigs[0])

      fields = URI.decode_www_form(Base64.strict_decode64(ssos[0]).force_encoding('UTF-8')).to_h
      nonce, return_to = fields.values_at('nonce', 'return_sso_url')
      # A URL that starts with an origin and a slash is on that origin, unless a URL parser drops or rewrites characters.
      ours = return_to.to_s.start_with?("#{settings.origin}/", "#{settings.pages_origin}/")
      return if nonce.to_s.empty? || !ours || return_to !~ /\A[!-\[\]-~]+\z/

      [nonce, return_to, fields['prompt'], fields['max_age']&.to_i]
    rescue ArgumentError
      nil
    end

    # The claims of an assertion that is valid for this request, otherwise nil. Raises Unverifiable if the gate's keys are
    # unavailable.
    def read_assertion(token, env)
      return unless token.match?(/\A[\w-]+\.[\w-]+\.[\w-]+\z/)

      head, body, signature = token.split('.')
      header, claims = [head, body].map { |part| JSON.parse(Base64.urlsafe_decode64(part)) }
      return unless header.is_a?(Hash) && claims.is_a?(Hash)
      return unless header['alg'] == 'ES256' && !header.key?('crit') && header['kid'].is_a?(String)
      return unless signed?("#{head}.#{body}", Base64.urlsafe_decode64(signature), keys.find(header['kid']))

      ours = claims['iss'] == settings.origin && claims['aud'] == settings.upstream
      claims if ours && current?(claims) && made_for?(env, claims)
    rescue ArgumentError, JSON::ParserError, EncodingError
      nil
    end

    private

    def tell(id, reason)
      uri = URI("#{settings.admin_url.chomp('/')}/members/#{ERB::Util.url_encode(id)}/revoke")
      body = JSON.generate(by: 'backend', reason: reason)
      headers = { 'Content-Type' => 'application/json', 'Coursegate-Signature' => sign_command(uri.path, body) }
      options = { use_ssl: uri.scheme == 'https', open_timeout: TELL_WITHIN, read_timeout: TELL_WITHIN }
      answer = Net::HTTP.start(uri.host, uri.port, **options) { |http| http.post(uri.path, body, headers) }
      raise IOError, "the gate responded with #{answer.code}" unless answer.code == '200'
    rescue StandardError => e
      Rails.logger.error("coursegate: could not revoke the connections of member #{id} (#{reason}): #{e.message}")
    end

    # The Coursegate-Signature header: an HMAC over the time, a nonce, the request and its body.
    def sign_command(path, body)
      time, nonce = Time.now.to_i.to_s, SecureRandom.hex(16)
      text = ['coursegate-v1', time, nonce, "POST #{path}", Digest::SHA256.hexdigest(body)].join("\n")
      "t=#{time},n=#{nonce},v1=#{OpenSSL::HMAC.hexdigest('SHA256', settings.admin_secret, text)}"
    end

    # Whether this is the request that the assertion was made for, if it names one (RFC 9449 section 4.2). REQUEST_URI is what
    # was sent, with the mount prefix; Rack::MethodOverride has already replaced REQUEST_METHOD.
    def made_for?(env, claims)
      return !settings.bound_only unless claims.key?('htm') || claims.key?('htu')

      path = env['REQUEST_URI'].to_s.split('?', 2).first
      claims['htm'] == env['REQUEST_METHOD'] && claims['htu'] == "#{settings.origin}#{path}"
    end

    # A JWS concatenates the two numbers of a signature (RFC 7518 section 3.4); OpenSSL expects them in DER.
    def signed?(text, raw, key)
      return false unless key && raw.bytesize == 64

      numbers = [raw[0, 32], raw[32, 32]].map { |bytes| OpenSSL::ASN1::Integer(OpenSSL::BN.new(bytes, 2)) }
      key.verify('SHA256', OpenSSL::ASN1::Sequence(numbers).to_der, text)
    rescue OpenSSL::PKey::PKeyError
      false
    end

    def current?(claims)
      exp, iat, nbf = claims.values_at('exp', 'iat', 'nbf')
      nbf = 0 if nbf.nil?
      now = Time.now.to_f
      [exp, iat, nbf].all?(Numeric) && exp > now - LEEWAY && [iat, nbf].max < now + LEEWAY &&
        claims.values_at('sub', 'client_id').all? { |text| text.is_a?(String) && !text.empty? }
    end
  end

  # Keeps when the member signed in, in Warden's session, which ends with the sign-in. A cookie of Devise's rememberable is
  # no sign-in: then the time is not known.
  SIGNED_IN_AT = 'coursegate.signed_in_at'
  if defined?(Warden)
    Warden::Manager.after_set_user(except: :fetch) do |_member, warden, options|
      Coursegate.safely do
        next if options[:store] == false || options[:scope] != Coursegate.settings.scope

        remembered = options[:event] == :authentication && warden.winning_strategy.class.name.to_s.end_with?('Rememberable')
        warden.session(options[:scope])[SIGNED_IN_AT] = remembered ? nil : Time.now.to_i
      end
    end
  end

  # Goes after Warden::Manager. A request with a valid assertion runs as the member it names, without a session, and with its
  # claims in `env['coursegate.claims']`. An invalid assertion gets 401, and a request that overrides its method 400.
  class Assertion
    def initialize(app)
      @app = app
    end

    def call(env)
      env.delete_if { |name, _| name.is_a?(String) && name.match?(/\AHTTP_X_(MEMBER_.*|CLIENT_ID)\z/) }
      token = env['HTTP_X_COURSEGATE_ASSERTION'].to_s
      # Gateways may send an empty field with requests without a member.
      return @app.call(env) if token.empty?

      claims = Coursegate.read_assertion(token, env)
      member = find_member(claims['sub']) if claims
      return refuse(401, 'invalid_assertion') if member.nil?
      return refuse(400, 'method_override') if overridden?(env)

      become(env, member, claims)
      @app.call(env)
    rescue Unverifiable
      refuse(503, 'temporarily_unavailable')
    end

    private

    # The gate authorized the method that was sent, which Rack::MethodOverride has replaced.
    def overridden?(env)
      sent = env['rack.methodoverride.original_method']
      !sent.nil? && sent != env['REQUEST_METHOD']
    end

    # Compares byte for byte, since a database may read '01' as 1 and find another member.
    def find_member(sub)
      member = Coursegate.settings.find_member.call(sub)
      member if member && member.id.to_s == sub && (!member.respond_to?(:active_for_authentication?) || member.active_for_authentication?)
    end

    # A session that the request carries is ignored, and none is started. Devise does not count this as a sign-in.
    def become(env, member, claims)
      env.delete('HTTP_COOKIE')
      env['rack.session.options'][:skip] = true if env['rack.session.options']
      env['coursegate.member'] = member
      env['coursegate.claims'] = claims.merge('scope' => claims['scope'].to_s.split)
      env['warden']&.set_user(member, scope: Coursegate.settings.scope, store: false, event: :fetch)
    end

    def refuse(status, error)
      [status, { 'content-type' => 'application/json', 'cache-control' => 'no-store' }, [JSON.generate(error: error)]]
    end
  end

  # Include this in the model of members. It revokes a member's connections when the member is destroyed, or when one of
  # `coursegate_watches` changes.
  module Member
    def self.included(model)
      model.class_attribute :coursegate_watches, default: %w[encrypted_password password_digest role admin active]
      model.after_update { Coursegate.safely { @coursegate_changed ||= (saved_changes.keys & coursegate_watches).any? } }
      model.after_commit(on: :update) do
        changed, @coursegate_changed = @coursegate_changed, false
        Coursegate.end_connections(id, 'password or rights changed') if changed
      end
      model.after_rollback { @coursegate_changed = false }
      model.after_commit(on: :destroy) { Coursegate.end_connections(id, 'left') }
    end
  end

  # Included in every controller: a request with a valid assertion needs no CSRF token.
  module Requests
    def coursegate
      request.env['coursegate.claims']
    end

    private

    def verified_request?
      !coursegate.nil? || super
    end
  end
  ActiveSupport.on_load(:action_controller_base) { include Requests } if defined?(ActiveSupport)

  # The gate's keys by kid. An unknown kid fetches the keys again, at most once every `pause` seconds.
  class Keys
    # The DER prefix of a P-256 public key, followed by its two coordinates (RFC 5480).
    P256 = ['3059301306072a8648ce3d020106082a8648ce3d03010703420004'].pack('H*').freeze

    def initialize(url, pause)
      @uri = URI(url)
      @pause = pause
      @known = {}
      @good_until = @ask_again = -Float::INFINITY
      @lock = Mutex.new
    end

    def find(kid)
      unless known?(kid)
        @lock.synchronize { fetch if !known?(kid) && now >= @ask_again }
      end
      raise Unverifiable if now >= @good_until || (@failed && !@known.key?(kid))

      @known[kid]
    end

    private

    def known?(kid)
      now < @good_until && @known.key?(kid)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def fetch
      @ask_again = now + @pause
      options = { use_ssl: @uri.scheme == 'https', open_timeout: 5, read_timeout: 5 }
      answer = Net::HTTP.start(@uri.host, @uri.port, **options) { |http| http.get(@uri.request_uri) }
      raise IOError, "#{@uri} responded with #{answer.code}" unless answer.code == '200'

      @known = JSON.parse(answer.body).fetch('keys').select { |jwk| usable?(jwk) }.to_h { |jwk| [jwk['kid'], public_key(jwk)] }
      @good_until = now + KEYS_KEPT
      @failed = false
    rescue SystemCallError, SocketError, IOError, Timeout::Error, OpenSSL::OpenSSLError, Net::ProtocolError, JSON::ParserError,
           KeyError, ArgumentError, NoMethodError
      @failed = true
    end

    def usable?(jwk)
      jwk.values_at('kty', 'crv') == %w[EC P-256] && jwk.fetch('use', 'sig') == 'sig' && jwk.fetch('alg', 'ES256') == 'ES256'
    end

    def public_key(jwk)
      OpenSSL::PKey.read(P256 + %w[x y].map { |name| Base64.urlsafe_decode64(jwk.fetch(name)) }.join)
    end
  end
end
