import type { Enrolment } from './enrolments.ts';
import { seededRandom } from './random.ts';
import { DAY } from './time.ts';

/** A purchase. Amounts are in cents, times in Unix seconds, with 0 for not yet. */
export interface Order {
  readonly id: string;
  readonly number: string;
  readonly status: 'paid' | 'refunded' | 'pending';
  readonly currency: 'EUR';
  readonly subtotal_cents: number;
  readonly tax_cents: number;
  readonly total_cents: number;
  readonly placed_at: number;
  readonly paid_at: number;
  readonly refunded_at: number;
  readonly refund: { readonly cents: number; readonly currency: string } | null;
  readonly line_items: readonly {
    readonly course_id: string;
    readonly course_slug: string;
    readonly title: string;
    readonly quantity: number;
    readonly unit_price_cents: number;
    readonly total_cents: number;
  }[];
}

const LARGEST_BASKET = 3;
const TAX_PERCENT = 21;

/** The orders for the enrolments, oldest first for each member. */
export function buildOrders(enrolments: readonly Enrolment[]): (Order & { readonly memberId: string })[] {
  const random = seededRandom(31);
  const orders: (Order & { memberId: string })[] = [];
  for (const memberId of new Set(enrolments.map((enrolment) => enrolment.memberId))) {
    const bought = enrolments
      .filter((enrolment) => enrolment.memberId === memberId)
      .sort((left, right) => left.enrolledAt - right.enrolledAt);
    while (bought.length > 0) {
      const basket = bought.splice(0, random.whole(1, LARGEST_BASKET));
      orders.push({ ...order(orders.length + 1, basket, random.whole(1, 12)), memberId });
    }
  }
  return orders;
}

function order(serial: number, basket: readonly Enrolment[], dice: number): Order {
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
