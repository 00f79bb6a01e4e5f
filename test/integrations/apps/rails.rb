# frozen_string_literal: true

# A small Rails site with Devise, its sessions and its CSRF tokens, and coursegate's drop-in on it.
ENV['RAILS_ENV'] = 'production'
require 'logger'
require 'rails'
require 'action_controller/railtie'
require 'active_record/railtie'
require 'devise'
require 'devise/orm/active_record'

class School < Rails::Application
  config.root = ENV.fetch('DATA')
  config.load_defaults 6.1
  config.eager_load = false
  config.secret_key_base = 'k' * 64
  config.hosts.clear
  config.log_level = :error
  config.logger = Logger.new($stderr, level: :error)
  config.session_store :cookie_store, key: '_school_session'
end

Devise.setup do |config|
  config.secret_key = 'd' * 64
  config.stretches = 4
end

# As config/initializers/coursegate.rb has it.
require File.join(ENV.fetch('INTEGRATIONS'), 'rails/coursegate')
Coursegate.configure(
  origin: ENV.fetch('COURSEGATE_ORIGIN'),
  pages_origin: ENV.fetch('COURSEGATE_PAGES_ORIGIN'),
  upstream: ENV.fetch('COURSEGATE_UPSTREAM'),
  secret: ENV.fetch('COURSEGATE_BRIDGE_SECRET'),
  jwks_url: ENV.fetch('COURSEGATE_JWKS_URL'),
  fetch_pause: ENV.fetch('COURSEGATE_FETCH_PAUSE').to_f,
  bound_only: ENV.fetch('COURSEGATE_BOUND_ONLY') == 'true',
  admin_url: ENV.fetch('COURSEGATE_ADMIN'),
  admin_secret: ENV.fetch('COURSEGATE_ADMIN_SECRET')
)
Rails.application.config.middleware.insert_after Warden::Manager, Coursegate::Assertion

class User < ActiveRecord::Base
  extend Devise::Models
  devise :database_authenticatable, :trackable, :rememberable
  include Coursegate::Member

  def active_for_authentication?
    super && !left
  end
end

# Devise looks at the routes once, when the application starts.
School.routes.prepend do
  devise_for :users, path: '', path_names: { sign_in: 'login' }
  get 'coursegate/whoami', to: 'coursegate#whoami'
  get 'coursegate/bridge', to: 'coursegate#bridge'
  match 'probe', to: 'pages#probe', via: %i[get post]
  match 'method', to: 'pages#dispatched', via: :all
  get 'private', to: 'pages#private'
  get 'sign-ins', to: 'pages#sign_ins'
  match 'password', to: 'pages#password', via: %i[get post]
end

ENV['DATABASE_URL'] = "sqlite3:#{ENV.fetch('DATA')}/school.sqlite3"
School.initialize!

ActiveRecord::Schema.verbose = false
created = !ActiveRecord::Base.connection.table_exists?(:users)
created && ActiveRecord::Schema.define do
  create_table :users do |t|
    t.string :email, :username, :name, :encrypted_password
    t.integer :sign_in_count, default: 0, null: false
    t.datetime :current_sign_in_at
    t.datetime :last_sign_in_at
    t.string :current_sign_in_ip
    t.string :last_sign_in_ip
    t.datetime :confirmed_at
    t.datetime :remember_created_at
    t.boolean :left, default: false
  end
end

created && [['sam', 'correct horse battery', ENV.fetch('SAM_NAME'), false],
 ['olu', 'staple for the other', 'Olu', false],
 ['gone', 'left the school long ago', 'Gone', true]].each do |username, password, name, left|
  User.create!(username: username, email: "#{username}@example.com", name: name, password: password, left: left,
               confirmed_at: (Time.now if username == 'sam'))
end

class ApplicationController < ActionController::Base
  protect_from_forgery with: :exception
  before_action :authenticate_user!

  private

  def after_sign_in_path_for(resource)
    stored_location_for(resource) || '/probe'
  end
end

class PagesController < ApplicationController
  skip_before_action :authenticate_user!, only: %i[probe dispatched]
  skip_forgery_protection only: :dispatched

  def probe
    seen = request.env.keys.select { |name| name.match?(/\AHTTP_.*(MEMBER|CLIENT)/i) }
    claims = coursegate || {}
    render json: { member: current_user&.id&.to_s, client: claims['client_id'], scope: claims['scope'] || [], seen: seen }
  end

  def dispatched
    render json: { method: request.request_method }
  end

  # Writes into the session, as many an action does.
  def private
    session[:seen] = true
    probe
  end

  def sign_ins
    render json: { count: current_user.sign_in_count }
  end

  def password
    if request.post?
      current_user.update!(password: params[:password])
      bypass_sign_in(current_user)
      return redirect_to '/probe'
    end
    render inline: '<form method="post" action=""><input type="hidden" name="authenticity_token" value="<%= form_authenticity_token %>"><input name="password"></form>'
  end
end

class Devise::SessionsController
  def new
    render inline: '<form method="post" action="/login"><input type="hidden" name="authenticity_token" value="<%= form_authenticity_token %>"><input name="user[email]"><input name="user[password]"></form>'
  end
end

require File.join(ENV.fetch('INTEGRATIONS'), 'rails/coursegate_controller')

# Such as `rails runner CODE` and `rails console`.
if ARGV.any?
  require 'rails/command'
  Rails::Command.invoke(ARGV.first, ARGV.drop(1))
  exit
end

require 'puma'
require 'puma/configuration'
require 'puma/launcher'
configuration = Puma::Configuration.new do |puma|
  puma.app Rack::URLMap.new('/campus' => School, '/' => School)
  puma.bind "tcp://127.0.0.1:#{ENV.fetch('PORT')}"
  puma.threads 2, 4
  puma.log_requests false
end
Puma::Launcher.new(configuration).run
