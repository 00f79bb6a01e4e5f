import type { SchoolData } from './data/school-data.ts';

/** A row as the REST service returns it. */
export interface Row {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** A row, with the id of the member it belongs to. */
export type OwnedRow = Row & { readonly owner?: string };

const TAX_PERCENT = 21;

/** The rows that follow from the other data, by area, as the REST service returns them. */
export function derivedRows(data: SchoolData): Readonly<Record<string, readonly OwnedRow[]>> {
  const { courses, lecturers, events, members, registrations } = data;
  const people = members.map(({ id, email, name, joined_at }) => {
    return { owner: id, id, email_address: email, display_name: name, joined_at };
  });
  return {
    courses: courses.map(({ sections, lecturer, first_lecture_id, lecture_seconds, ...row }) => {
      return { ...row, lectures_count: lecture_seconds.length, currency: 'EUR' };
    }),
    curriculum: courses.map(({ id, slug, sections }, index) => {
      return { id: `cu-${index + 1}`, course_id: id, course_slug: slug, sections };
    }),
    lecturers,
    events: events.map(({ id, title, startsAt, endsAt, timeZone, attendanceMode, venue }) => ({
      id,
      title,
      starts_at: startsAt,
      ends_at: endsAt,
      time_zone: timeZone,
      attendance_mode: attendanceMode.toLowerCase(),
      location: venue && `${venue.name}, ${venue.address}`,
    })),
    members: people,
    students: people,
    orders: orderRows(data),
    event_registrations: registrations.map(({ id, memberId, eventId, status, registeredAt }) => ({
      owner: memberId,
      id,
      event_id: eventId,
      event_title: events.find((event) => event.id === eventId)?.title,
      status: status.toLowerCase(),
      registered_at: registeredAt,
    })),
  };
}

/** Amounts are in cents. */
function orderRows({ courses, orders }: SchoolData): readonly OwnedRow[] {
  return orders.map(({ member_id, course_slugs, status, ...times }, index) => {
    const bought = course_slugs.flatMap((wanted) => courses.filter(({ slug }) => slug === wanted));
    const total = bought.reduce((sum, { price_cents }) => sum + price_cents, 0);
    const tax = Math.round((total * TAX_PERCENT) / (100 + TAX_PERCENT));
    return {
      owner: member_id,
      id: `o-${index + 1}`,
      number: `HL-${20_007 + index * 7}`,
      status,
      currency: 'EUR',
      subtotal_cents: total - tax,
      tax_cents: tax,
      total_cents: total,
      ...times,
      refund: status === 'refunded' ? { cents: total, currency: 'EUR' } : null,
      line_items: bought.map(({ id, slug, title, price_cents }) => ({
        course_id: id,
        course_slug: slug,
        title,
        quantity: 1,
        unit_price_cents: price_cents,
        total_cents: price_cents,
      })),
    };
  });
}
