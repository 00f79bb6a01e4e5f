import type { Enrolment } from './enrolments.ts';
import { seededRandom } from './random.ts';
import { DAY } from './time.ts';

const LARGEST_BASKET = 3;
const TAX_PERCENT = 21;

/** The orders for the enrolments, each with its owner, oldest first for each member. */
export function buildOrders(enrolments: readonly Enrolment[]) {
  const random = seededRandom(31);
  const orders: { row: ReturnType<typeof order>; owner: string }[] = [];
  for (const [owner, own] of Map.groupBy(enrolments, ({ memberId }) => memberId)) {
    const bought = own.toSorted((left, right) => left.enrolledAt - right.enrolledAt);
    while (bought.length > 0) {
      const basket = bought.splice(0, random.whole(1, LARGEST_BASKET));
      orders.push({ row: order(orders.length + 1, basket, random.whole(1, 12)), owner });
    }
  }
  return orders;
}

/** Amounts are in cents. A time of 0 means not yet. */
function order(serial: number, basket: readonly Enrolment[], dice: number) {
  const placedAt = basket[0]?.enrolledAt ?? 0;
  const total = basket.reduce((sum, { course }) => sum + course.priceCents, 0);
  const tax = Math.round((total * TAX_PERCENT) / (100 + TAX_PERCENT));
  const status = dice === 1 ? 'refunded' : dice === 2 ? 'pending' : 'paid';
  return {
    id: `o-${serial}`,
    number: `HL-${20_000 + serial * 7}`,
    status,
    currency: 'EUR',
    subtotal_cents: total - tax,
    tax_cents: tax,
    total_cents: total,
    placed_at: placedAt,
    paid_at: status === 'pending' ? 0 : placedAt + 42,
    refunded_at: status === 'refunded' ? placedAt + 3 * DAY : 0,
    refund: status === 'refunded' ? { cents: total, currency: 'EUR' } : null,
    line_items: basket.map(({ course }) => ({
      course_id: course.id,
      course_slug: course.slug,
      title: course.title,
      quantity: 1,
      unit_price_cents: course.priceCents,
      total_cents: course.priceCents,
    })),
  };
}
