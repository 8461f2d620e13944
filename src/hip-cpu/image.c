#include "src/hip-cpu/provider.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_IMAGE_BYTES = 256 << 20 };

struct image {
    const uint8_t *bytes; /* the caller's, of unknown size */
    int fd;               /* our copy, as far as it was read */
    uint64_t end;         /* the largest extent that a header names */
};

/* Note that the image reaches to offset + length; false if no image is that large. */
static bool extend(struct image *im, uint64_t offset, uint64_t length)
{
    if (offset > MAX_IMAGE_BYTES || length > MAX_IMAGE_BYTES - offset)
        return false;
    if (offset + length > im->end)
        im->end = offset + length;
    return true;
}

/* The image is read only by the kernel, which answers EFAULT where we would die of a truncated one.
 * The bare system call goes past the sanitizers' wrapper: they know the size of the caller's
 * buffer, we do not and must guess. */
static bool copy_range(struct image *im, uint64_t offset, uint64_t length)
{
    if (!extend(im, offset, length))
        return false;
    while (length > 0) {
        long written = syscall(SYS_pwrite64, im->fd, im->bytes + offset, length, offset);
        if (written <= 0)
            return false;
        offset += (uint64_t)written;
        length -= (uint64_t)written;
    }
    return true;
}

static bool fetch(void *out, struct image *im, uint64_t offset, size_t length)
{
    return copy_range(im, offset, length) &&
           pread(im->fd, out, length, (off_t)offset) == (ssize_t)length;
}

static hipError_t refuse(hipError_t code, const char *reason)
{
    complain("code object refused: %s", reason);
    return code;
}

static hipError_t check_header(const Elf64_Ehdr *e)
{
    if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
        return refuse(hipErrorInvalidImage, "it is not an ELF file");
    if (e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_ident[EI_DATA] != ELFDATA2LSB ||
        e->e_machine != EM_X86_64)
        return refuse(hipErrorNoBinaryForGpu, "it is not for x86-64");
    if (e->e_type != ET_DYN)
        return refuse(hipErrorInvalidImage, "it is not a shared object");
    if (e->e_phnum == 0 || e->e_phnum == PN_XNUM || e->e_phentsize != sizeof(Elf64_Phdr))
        return refuse(hipErrorInvalidImage, "its program headers make no sense");
    if (e->e_shnum > 0 && (e->e_shentsize != sizeof(Elf64_Shdr) || e->e_shstrndx >= e->e_shnum))
        return refuse(hipErrorInvalidImage, "its section headers make no sense");
    return hipSuccess;
}

static bool read_segments(struct image *im, const Elf64_Ehdr *e)
{
    bool has_code = false, has_dynamic = false;
    for (unsigned i = 0; i < e->e_phnum; i++) {
        Elf64_Phdr p;
        if (!extend(im, e->e_phoff, 0) || !fetch(&p, im, e->e_phoff + i * sizeof p, sizeof p) ||
            !extend(im, p.p_offset, p.p_filesz))
            return false;
        if (p.p_type == PT_LOAD && (p.p_filesz > p.p_memsz || p.p_memsz > MAX_IMAGE_BYTES ||
                                    (p.p_align & (p.p_align - 1)) != 0))
            return false;
        has_code |= p.p_type == PT_LOAD && (p.p_flags & PF_X);
        has_dynamic |= p.p_type == PT_DYNAMIC && p.p_filesz >= sizeof(Elf64_Dyn);
    }
    return has_code && has_dynamic;
}

/* Linkers put the section headers last, so they show a truncated image: section 0 is always empty,
 * and the names are strings. */
static bool read_sections(struct image *im, const Elf64_Ehdr *e)
{
    for (unsigned i = 0; i < e->e_shnum; i++) {
        Elf64_Shdr s;
        if (!extend(im, e->e_shoff, 0) || !fetch(&s, im, e->e_shoff + i * sizeof s, sizeof s))
            return false;
        if (i == 0 && (s.sh_type != SHT_NULL || s.sh_size != 0))
            return false;
        if (i == e->e_shstrndx && i > 0 && s.sh_type != SHT_STRTAB)
            return false;
        if (s.sh_type != SHT_NULL && s.sh_type != SHT_NOBITS && !extend(im, s.sh_offset, s.sh_size))
            return false;
    }
    return true;
}

static hipError_t copy_all(struct image *im)
{
    Elf64_Ehdr header;
    if (!fetch(&header, im, 0, sizeof header))
        return refuse(hipErrorInvalidImage, "it is truncated");
    hipError_t error = check_header(&header);
    if (error != hipSuccess)
        return error;
    if (!read_segments(im, &header))
        return refuse(hipErrorInvalidImage, "its segments make no sense, or it is truncated");
    if (!read_sections(im, &header))
        return refuse(hipErrorInvalidImage, "its sections make no sense, or it is truncated");
    if (!copy_range(im, 0, im->end))
        return refuse(hipErrorInvalidImage, "it is truncated");
    return hipSuccess;
}

hipError_t image_copy(int *out_fd, const void *image)
{
    if (!image)
        return hipErrorInvalidValue;
    struct image im = {.bytes = image, .fd = memfd_create("assay-code-object", MFD_CLOEXEC)};
    if (im.fd < 0)
        return hipErrorOperatingSystem;
    hipError_t error = copy_all(&im);
    if (error != hipSuccess)
        close(im.fd);
    else
        *out_fd = im.fd;
    return error;
}
