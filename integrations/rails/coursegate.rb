# frozen_string_literal: true

# Rails behind coursegate: requests that the gate sends for a member (Coursegate::Assertion, a Rack middleware), what
# CoursegateController answers, and what the gate is told (Coursegate::Member, a concern). For lib/; nothing to install. See README.md.

require 'base64'
require 'digest'
require 'erb'
require 'json'
require 'net/http'
require 'openssl'
require 'securerandom'
require 'uri'

module Coursegate
  # Seconds that two clocks may be apart; that keys are kept; that pass between two fetches of them, at least.
  LEEWAY = 10
  KEYS_KEPT = 600
  FETCH_PAUSE = 30
  # Seconds that a member's request waits for the gate to be told.
  TELL_WITHIN = 2

  # The gate's keys cannot be had: nobody can say whether an assertion is good.
  class Unverifiable < StandardError; end

  # find_member and version_of suit Devise's User; a site with has_secure_password gives `->(m) { m.password_digest }`.
  Settings = Struct.new(:origin, :upstream, :secret, :jwks_url, :fetch_pause, :scope, :find_member, :version_of,
                        :admin_url, :admin_secret,
                        keyword_init: true) do
    def initialize(**given)
      super(jwks_url: "#{given[:origin]}/.well-known/jwks.json", fetch_pause: FETCH_PAUSE, scope: :user,
            find_member: ->(id) { User.find_by(id: id) }, version_of: ->(member) { member.authenticatable_salt }, **given)
      raise ArgumentError, 'Coursegate: origin has no path and no final slash' unless origin.to_s =~ %r{\Ahttps?://[^/?#@\s]+\z}
      raise ArgumentError, "Coursegate: upstream is this backend's name in coursegate.yaml" if upstream.to_s.empty?
      raise ArgumentError, 'Coursegate: secret must have 32 characters or more' if secret.to_s.length < 32
      return if admin_url.to_s.empty? || !admin_secret.to_s.empty?

      raise ArgumentError, "Coursegate: admin_secret is the gate's admin.hmac.secret"
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

    # Changes when the password does, and tells nothing of it.
    def version(member)
      key = Rails.application.key_generator.generate_key('coursegate version', 32)
      OpenSSL::HMAC.hexdigest('SHA256', key, "#{member.id}\n#{settings.version_of.call(member)}")[0, 32]
    end

    # Has the gate end what a member let in: apps are refused from then on. Waits for two seconds at most, and never raises:
    # what goes wrong is logged, and the member's version ends their connections later.
    def end_connections(id, reason)
      Thread.new { tell(id.to_s, reason) }.join(TELL_WITHIN) unless settings.admin_url.to_s.empty?
    end

    # The gate's question, when the gate has asked it: nonce, return address, and whether somebody else is to sign in.
    # Else nil. The base64 text itself is signed, not what it stands for.
    def read_bridge(query_string)
      query = URI.decode_www_form(query_string)
      ssos, sigs = %w[sso sig].map { |name| query.filter_map { |key, value| value if key == name } }
      return unless ssos.one? && sigs.one? && OpenSSL.secure_compare(sign(ssos[0]), sigs[0])

      fields = URI.decode_www_form(Base64.strict_decode64(ssos[0]).force_encoding('UTF-8')).to_h
      nonce, return_to = fields.values_at('nonce', 'return_sso_url')
      # What begins with the origin and a slash is on that origin, whatever follows, as long as no parser strips it away.
      return if nonce.to_s.empty? || !return_to.to_s.start_with?("#{settings.origin}/") || return_to !~ /\A[!-\[\]-~]+\z/

      [nonce, return_to, fields['prompt'] == 'select_account']
    rescue ArgumentError
      nil
    end

    # Out: the claims of a good assertion, else nil. Raises Unverifiable.
    def read_assertion(token)
      return unless token.match?(/\A[\w-]+\.[\w-]+\.[\w-]+\z/)

      head, body, signature = token.split('.')
      header, claims = [head, body].map { |part| JSON.parse(Base64.urlsafe_decode64(part)) }
      return unless header.is_a?(Hash) && claims.is_a?(Hash)
      return unless header['alg'] == 'ES256' && !header.key?('crit') && header['kid'].is_a?(String)
      return unless signed?("#{head}.#{body}", Base64.urlsafe_decode64(signature), keys.find(header['kid']))

      claims if current?(claims) && claims['iss'] == settings.origin && claims['aud'] == settings.upstream
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
      raise IOError, "it answered #{answer.code}" unless answer.code == '200'
    rescue StandardError => e
      Rails.logger.error("coursegate was not told that the connections of member #{id} end (#{reason}): #{e.message}")
    end

    # An HMAC over the time, a nonce, the request and its body.
    def sign_command(path, body)
      time, nonce = Time.now.to_i.to_s, SecureRandom.hex(16)
      text = ['coursegate-v1', time, nonce, "POST #{path}", Digest::SHA256.hexdigest(body)].join("\n")
      "t=#{time},n=#{nonce},v1=#{OpenSSL::HMAC.hexdigest('SHA256', settings.admin_secret, text)}"
    end

    # A JWS has the two numbers one after the other (RFC 7518 section 3.4), OpenSSL wants them in DER.
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

  # Goes behind Warden::Manager. A request with an assertion of the gate is the member's whom it names, without a session;
  # its claims are `env['coursegate.claims']`. One with a bad assertion is answered 401, one that overrides its method 400.
  class Assertion
    def initialize(app)
      @app = app
    end

    def call(env)
      env.delete_if { |name, _| name.is_a?(String) && name.match?(/\AHTTP_X_(MEMBER_.*|CLIENT_ID)\z/) }
      token = env['HTTP_X_COURSEGATE_ASSERTION']
      return @app.call(env) if token.nil?

      claims = Coursegate.read_assertion(token)
      member = find_member(claims['sub']) if claims
      return refuse(401, 'invalid_assertion') if member.nil?
      return refuse(400, 'method_override') if overridden?(env)

      become(env, member, claims)
      @app.call(env)
    rescue Unverifiable
      refuse(503, 'temporarily_unavailable')
    end

    private

    # The gate judged the method that was sent. Rack::MethodOverride has put another one in its place.
    def overridden?(env)
      sent = env['rack.methodoverride.original_method']
      !sent.nil? && sent != env['REQUEST_METHOD']
    end

    # Byte for byte: a database that reads '01' as 1 does not decide who somebody is.
    def find_member(sub)
      member = Coursegate.settings.find_member.call(sub)
      member if member && member.id.to_s == sub && (!member.respond_to?(:active_for_authentication?) || member.active_for_authentication?)
    end

    # Whatever session came along is nobody's business, and none is begun; Devise counts no sign-in.
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

  # For the model of members: tells the gate when a member is destroyed, or one of `coursegate_watches` changes.
  module Member
    def self.included(model)
      model.class_attribute :coursegate_watches, default: %w[encrypted_password password_digest role admin active]
      model.after_update { @coursegate_changed ||= (saved_changes.keys & coursegate_watches).any? }
      model.after_commit(on: :update) do
        changed, @coursegate_changed = @coursegate_changed, false
        Coursegate.end_connections(id, 'password or rights changed') if changed
      end
      model.after_rollback { @coursegate_changed = false }
      model.after_commit(on: :destroy) { Coursegate.end_connections(id, 'left') }
    end
  end

  # For every controller: a request that the gate has signed needs no CSRF token.
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

  # The gate's keys by kid. An unknown one has them fetched anew, but not oftener than every `pause` seconds.
  class Keys
    # What comes before the two coordinates of a P-256 key in DER (RFC 5480).
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
      raise IOError, "#{@uri} answered #{answer.code}" unless answer.code == '200'

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
