import { DAY } from './time.ts';

/** The rows of the areas without code of their own, by area. `today` is midnight. */
export function buildNotices(today: number) {
  return {
    posts: POSTS.map(([slug, title, excerpt], index) => {
      const published_at = today - (index + 1) * 16 * DAY;
      return { id: `p-${index + 1}`, slug, title, excerpt, author: 'The harbour office', published_at };
    }),
    pages: PAGES.map(([slug, title, body], index) => {
      return { id: `pg-${index + 1}`, slug, title, body, updated_at: today - (index + 2) * 50 * DAY };
    }),
    membership_plans: [
      { id: 'plan-1', slug: 'monthly', name: 'Monthly', price_cents: 1900, currency: 'EUR', interval: 'month' },
      { id: 'plan-2', slug: 'yearly', name: 'Yearly', price_cents: 17900, currency: 'EUR', interval: 'year' },
      { id: 'plan-3', slug: 'household', name: 'Household', price_cents: 24900, currency: 'EUR', interval: 'year' },
    ],
    digital_products: PRODUCTS.map(([slug, title, price, kind], index) => {
      return { id: `dp-${index + 1}`, slug, title, file_type: kind, price_cents: price, currency: 'EUR' };
    }),
    comments: COMMENTS.map(([author_name, course_slug, body], index) => {
      return { id: `cm-${index + 1}`, course_slug, author_name, body, written_at: today - (index + 1) * 5 * DAY };
    }),
    forms: [
      { id: 'f-1', slug: 'contact', title: 'Write to us', fields: ['name', 'email', 'message'] },
      { id: 'f-2', slug: 'course-feedback', title: 'How was the course?', fields: ['course', 'rating', 'message'] },
      { id: 'f-3', slug: 'open-day', title: 'Sign up for the open day', fields: ['name', 'guests'] },
    ],
    coupons: [
      { id: 'cp-1', code: 'SPRINGTIDE', percent_off: 20, amount_off_cents: 0, expires_at: today + 60 * DAY },
      { id: 'cp-2', code: 'ANCHOR10', percent_off: 0, amount_off_cents: 1000, expires_at: 0 },
      { id: 'cp-3', code: 'FIRSTMATE', percent_off: 15, amount_off_cents: 0, expires_at: today - 30 * DAY },
    ],
    school: [
      {
        id: 'school',
        name: 'Harbour Lane School',
        tagline: 'Things worth learning by hand and by heart',
        time_zone: 'Europe/Amsterdam',
        locale: 'en',
        currency: 'EUR',
        contact_email: 'office@harbour-lane.example',
        founded_at: today - 4380 * DAY,
      },
    ],
    appearance: [
      {
        id: 'appearance',
        theme: 'quay',
        primary_color: '#14506b',
        accent_color: '#c8552b',
        font: 'system',
        logo: null,
      },
    ],
  };
}

const POSTS = [
  ['new-workshop-floor', 'A new floor for the workshop', 'Forty metres of oak, laid by the Saturday group.'],
  ['meet-siobhan', 'Meet Siobhán Keane', 'Our new garden lecturer on walls, wind and espaliers.'],
  ['captions-everywhere', 'Captions on every lecture', 'All 600 lectures now have captions in two languages.'],
] as const;

const PAGES = [
  ['about', 'About the school', 'Harbour Lane School began in a net loft in a fishing town and still meets there.'],
  ['refunds', 'Refunds', 'Money back within fourteen days, no questions.'],
] as const;

const PRODUCTS = [
  ['tide-planner', 'Tide planner, printable', 900, 'pdf'],
  ['bread-formulas', 'Bread formulas', 1400, 'pdf'],
  ['sowing-calendar', 'Sowing calendar', 700, 'ics'],
] as const;

const COMMENTS = [
  ['Wim', 'harbour-navigation', 'The lecture on leading lines saved my paint last weekend.'],
  ['Aoife', 'sourdough-from-scratch', 'Day six and it floats!'],
  ['Marta', 'joinery-by-hand', 'Could we have the drawing with metric sizes too?'],
] as const;
