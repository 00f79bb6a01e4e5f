import { describe, expect, it } from 'vitest';
import { findLoginForm } from '../../src/login/form/login-page.ts';

const find = (page: string, action?: string) =>
  findLoginForm(page, { passwordField: 'pw', isAction: (written) => written === action });

const PW = '<input type="password" name="pw">';

describe('the sign-in form of a page', () => {
  it.each([
    ['attributes in any order and case', `<FORM ACTION=/a><INPUT VALUE=1 TYPE=HIDDEN NAME=t>${PW}</FORM>`],
    ['quotes of both kinds', `<form action='/a'><input type='hidden' name="t" value='1'>${PW}</form>`],
    [
      'a form between the rows of a table',
      `<table><form action=/a><tr><td><input type=hidden name=t value=1>${PW}</table>`,
    ],
    [
      'a field beside its form',
      `<form id=f action=/a></form><input form=f type=hidden name=t value=1><input form=f name=pw>`,
    ],
    ['a form that is never closed', `<form action=/a><div><input type=hidden name=t value=1>${PW}`],
    [
      'a comment that looks like a form',
      `<!-- <form action=/b>${PW}</form> --><form action=/a><input type=hidden name=t value=1>${PW}</form>`,
    ],
    [
      'a script that looks like a form',
      `<script>"<form action=/b>"</script><form action=/a><input type=hidden name=t value=1>${PW}</form>`,
    ],
    [
      'another form first',
      `<form action=/s><input name=q></form><form action=/a><input type=hidden name=t value=1>${PW}</form>`,
    ],
    [
      'a form with another password field first',
      `<form action=/b><input type=password name=new></form><form action=/a><input type=hidden name=t value=1>${PW}</form>`,
    ],
  ])('is found in a page with %s', (_, page) => {
    expect(find(page)).toEqual({ action: '/a', hidden: [['t', '1']] });
  });

  it('is the one with the configured action when there are several', () => {
    const page = `<form action=/a>${PW}</form><form action=/b>${PW}</form>`;
    expect(find(page)?.action).toBe('/a');
    expect(find(page, '/b')?.action).toBe('/b');
    expect(find(page, '/c')?.action).toBe('/a');
  });

  it('is one with a password field when no field has the configured name', () => {
    expect(find('<form action=/a><input type=password name=other></form>')?.action).toBe('/a');
  });

  it('has its character references decoded once, and keeps the order and repeated fields', () => {
    const page = `<form action="/a?x=1&amp;y=2"><input type=hidden name=a value="&amp;lt;"><input type=hidden name=b><input type=hidden name=a value="&#39;&eacute;&notit;">${PW}`;
    expect(find(page)).toEqual({
      action: '/a?x=1&y=2',
      hidden: [
        ['a', '&lt;'],
        ['b', ''],
        ['a', `'é&notit;`],
      ],
    });
  });

  it.each([
    '',
    'text',
    '<form action=/a><input name=q></form>',
    PW.repeat(0),
    `<p>${'x'.repeat(1024 * 1024)}</p><form>${PW}`,
  ])('is not found in %#', (page) => {
    expect(find(page)).toBeUndefined();
  });

  it('is found in a page with extremely deep nesting', () => {
    expect(find(`${'<div>'.repeat(30_000)}<form action=/a>${PW}`)?.action).toBe('/a');
  });
});
