/*
 * The first code of the single binary.
 *
 * Node is linked to libstdc++ and libgcc, which a system with nothing but glibc lacks. The binary therefore contains both.
 * Its ELF header names no dynamic loader, so that the kernel starts this code, which does what the kernel would have done:
 * it maps glibc's loader and jumps to it. Before that, where the system has no libstdc++, it puts the two libraries into
 * files in memory and makes them the program's first dependencies.
 *
 * It runs without a C library, before anything is relocated. ../assemble.ts fills in `program` when the binary is built.
 */
#include <stddef.h>
#include <stdint.h>

#include "system-call.h"

struct library {
  const char *content;
  uint64_t size;
  /* Where the dynamic section holds the offset of this dependency's name; it names libc until it is changed. */
  uint64_t *dependency;
};

struct program {
  uint64_t entry;
  /* The table of segments that glibc's loader sees. Unlike the kernel's, it names an interpreter, as it demands. */
  uint64_t segments, segment_count;
  const char *interpreter;
  const char *names;
  struct library libraries[2];
};

__attribute__((section(".program"), used)) const volatile struct program program = {0};

struct header {
  unsigned char ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, segments_at, sections_at;
  uint32_t flags;
  uint16_t size, segment_size, segments, section_size, sections, names;
};

struct segment {
  uint32_t type, flags;
  uint64_t at, address, physical, file_size, size, align;
};

enum { LOAD = 1, READ_ONLY_OPEN = 02000000 /* O_CLOEXEC */, CLOSE_ON_EXEC = 1, SEGMENTS = 16, PAGE = 65536 };
enum { PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4, MAP_PRIVATE = 2, MAP_FIXED = 16, MAP_ANONYMOUS = 32 };
enum { AT_NULL = 0, AT_PHDR = 3, AT_PHNUM = 5, AT_PAGESZ = 6, AT_BASE = 7, AT_ENTRY = 9, NONE = -1 };

static void stop(const char *why) {
  size_t length = 0;
  while (why[length] != 0) length += 1;
  system_call(SYS_WRITE, 2, (long)why, length, 0, 0, 0);
  system_call(SYS_EXIT, 127, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

static int failed(long result) { return result < 0 && result > -4096; }

static char *map(uint64_t address, uint64_t size, long protection, long flags, long file, uint64_t at) {
  long result = system_call(SYS_MMAP, address, size, protection, MAP_PRIVATE | flags, file, at);
  if (failed(result)) stop("coursegate: not enough memory to start\n");
  return (char *)result;
}

/* Where distributions with glibc keep libstdc++: Debian and Ubuntu first, then all others. */
static int system_has_libraries(void) {
  return system_call(SYS_FACCESSAT, NONE, (long)("/usr/lib/" TRIPLET "/libstdc++.so.6"), 0, 0, 0, 0) == 0 ||
         system_call(SYS_FACCESSAT, NONE, (long)"/usr/lib64/libstdc++.so.6", 0, 0, 0, 0) == 0;
}

/* Writes "/proc/self/fd/" and the number; returns the end. */
static char *name_file(char *to, long file) {
  const char *folder = "/proc/self/fd/";
  while (*folder != 0) *to++ = *folder++;
  char digits[20];
  int count = 0;
  do digits[count++] = '0' + file % 10;
  while ((file /= 10) > 0);
  while (count > 0) *to++ = digits[--count];
  *to++ = 0;
  return to;
}

static void provide_libraries(void) {
  char *names = map(0, PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, NONE, 0);
  for (int index = 0; index < 2; index += 1) {
    const volatile struct library *library = &program.libraries[index];
    long file = system_call(SYS_MEMFD_CREATE, (long)"coursegate", CLOSE_ON_EXEC, 0, 0, 0, 0);
    for (uint64_t done = 0; !failed(file) && done < library->size;) {
      long written = system_call(SYS_WRITE, file, (long)(library->content + done), library->size - done, 0, 0, 0);
      if (failed(written)) file = written;
      else done += written;
    }
    if (failed(file)) stop("coursegate: this system has no libstdc++.so.6, and its own copy could not be put into memory\n");
    /* The loader adds this offset to the address of the program's names. */
    *library->dependency = (uint64_t)(names - program.names);
    names = name_file(names, file);
    if (system_call(SYS_FACCESSAT, NONE, (long)(program.names + *library->dependency), 0, 0, 0, 0) != 0) {
      stop("coursegate: this system has no libstdc++.so.6: install it, or mount /proc\n");
    }
  }
}

/* Maps glibc's loader as the kernel does. Returns what has to be added to its addresses. */
static uint64_t map_interpreter(uint64_t page, struct header *header) {
  struct segment segments[SEGMENTS];
  long file = system_call(SYS_OPENAT, NONE, (long)program.interpreter, READ_ONLY_OPEN, 0, 0, 0);
  if (failed(file)) stop("coursegate: this system has no glibc\n");
  long expected = sizeof *header;
  if (system_call(SYS_PREAD, file, (long)header, expected, 0, 0, 0) != expected || header->segments > SEGMENTS) {
    stop("coursegate: cannot read the loader of glibc\n");
  }
  expected = header->segments * sizeof *segments;
  if (system_call(SYS_PREAD, file, (long)segments, expected, header->segments_at, 0, 0) != expected) {
    stop("coursegate: cannot read the loader of glibc\n");
  }
  uint64_t end = 0;
  for (int index = 0; index < header->segments; index += 1) {
    if (segments[index].type == LOAD) end = segments[index].address + segments[index].size;
  }
  uint64_t base = (uint64_t)map(0, end, 0, MAP_ANONYMOUS, NONE, 0);
  for (int index = 0; index < header->segments; index += 1) {
    struct segment *segment = &segments[index];
    if (segment->type != LOAD) continue;
    long protection = (segment->flags & 4 ? PROT_READ : 0) | (segment->flags & 2 ? PROT_WRITE : 0) |
                      (segment->flags & 1 ? PROT_EXEC : 0);
    uint64_t start = segment->address & -page;
    uint64_t content = segment->address + segment->file_size;
    uint64_t mapped = (content + page - 1) & -page;
    map(base + start, content - start, protection, MAP_FIXED, file, segment->at & -page);
    if (!(segment->flags & 2)) continue;
    for (char *byte = (char *)(base + content); byte < (char *)(base + mapped); byte += 1) *(volatile char *)byte = 0;
    uint64_t last = segment->address + segment->size;
    if (last > mapped) map(base + mapped, last - mapped, protection, MAP_FIXED | MAP_ANONYMOUS, NONE, 0);
  }
  system_call(SYS_CLOSE, file, 0, 0, 0, 0, 0);
  return base;
}

/* `stack` is what the kernel leaves to a new program: the arguments, the environment and the auxiliary vector. */
__attribute__((used)) uint64_t load(uint64_t *stack) {
  uint64_t *vector = stack + 1 + stack[0] + 1;
  while (*vector++ != 0) {
  }
  uint64_t page = 4096;
  for (uint64_t *pair = vector; pair[0] != AT_NULL; pair += 2) {
    if (pair[0] == AT_PAGESZ) page = pair[1];
  }
  if (!system_has_libraries()) provide_libraries();
  struct header header;
  uint64_t base = map_interpreter(page, &header);
  for (uint64_t *pair = vector; pair[0] != AT_NULL; pair += 2) {
    if (pair[0] == AT_PHDR) pair[1] = program.segments;
    if (pair[0] == AT_PHNUM) pair[1] = program.segment_count;
    if (pair[0] == AT_BASE) pair[1] = base;
    if (pair[0] == AT_ENTRY) pair[1] = program.entry;
  }
  return base + header.entry;
}
