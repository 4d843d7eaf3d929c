#include "read/detect.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "read/byte_source.h"

#define HEAD_BYTES 512

#define INSTEAD_OF_NSYS \
	"which inquest does not read; record the run with inquest record, or with torch.profiler"
#define NSYS_REPORT  "an Nsight Systems report, " INSTEAD_OF_NSYS
#define EMPTY_FILE   "an empty file"
#define BINARY_FILE  "binary data of an unknown kind"
#define TEXT_FILE    "plain text"
#define CSV_FILE     "a table of comma-separated values"
#define FOREIGN_JSON "a JSON value that is neither an object nor a list"

static const struct {
	const char *magic;
	uint8_t length;
	uint8_t offset;
	const char *looks_like;
} magics[] = {
	{"\x89PNG", 4, 0, "a PNG image"},
	{"\xff\xd8\xff", 3, 0, "a JPEG image"},
	{"GIF8", 4, 0, "a GIF image"},
	{"%PDF", 4, 0, "a PDF document"},
	{"\x7f"
	 "ELF",
		4, 0, "an ELF program or library"},
	{"PK\x03\x04", 4, 0, "a zip archive (a PyTorch checkpoint is one too)"},
	{"ustar", 5, 0, "a tar archive"},
	{"BZh", 3, 0, "bzip2 data; decompress it first"},
	{"\xfd"
	 "7zXZ",
		5, 0, "xz data; decompress it first"},
	{"\x04\x22\x4d\x18", 4, 0, "lz4 data; decompress it first"},
	{"\x89HDF", 4, 0, "an HDF5 file"},
	{"PAR1", 4, 0, "a Parquet file"},
	{"\x80\x02", 2, 0, "a Python pickle"},
	{"\x80\x04", 2, 0, "a Python pickle"},
	{"\x80\x05", 2, 0, "a Python pickle"},
	{"<!DOCTYPE", 9, 0, "an HTML page"},
	{"<html", 5, 0, "an HTML page"},
	{"<?xml", 5, 0, "an XML document"},
	{"#!", 2, 0, "a script"},
	{"ustar", 5, 255, "a tar archive"},
};

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* SQLite keeps the application's number at byte 68, the most significant byte first. */
static bool is_ours(const char *head, size_t length)
{
	return length >= 72 && memcmp(head + 68, "INQT", 4) == 0;
}

/* Commas in the first two lines, as many in each. */
static bool looks_like_csv(const char *head, size_t length)
{
	size_t commas[2] = {0, 0};
	int line = 0;
	for (size_t i = 0; i < length && line < 2; i++) {
		if (head[i] == '\n')
			line++;
		else if (head[i] == ',')
			commas[line]++;
	}
	return line > 0 && commas[0] > 0 && (line < 2 || commas[0] == commas[1]);
}

static bool is_text(const char *head, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)head[i] < 0x20 && !is_space(head[i]) && head[i] != '\x1b')
			return false;
	return true;
}

static const char *name_of_foreign(const char *head, size_t length, const char *path)
{
	for (size_t m = 0; m < sizeof magics / sizeof *magics; m++)
		if (length >= (size_t)magics[m].offset + magics[m].length &&
			memcmp(head + magics[m].offset, magics[m].magic, magics[m].length) == 0)
			return magics[m].looks_like;
	const size_t path_length = strlen(path);
	static const char report[] = ".nsys-rep", old_report[] = ".qdrep";
	if ((path_length > sizeof report &&
		    strcmp(path + path_length - (sizeof report - 1), report) == 0) ||
		(path_length > sizeof old_report &&
			strcmp(path + path_length - (sizeof old_report - 1), old_report) == 0))
		return NSYS_REPORT;
	if (!is_text(head, length))
		return BINARY_FILE;
	return looks_like_csv(head, length) ? CSV_FILE : TEXT_FILE;
}

/* What the first bytes, already decompressed, are. */
static struct file_kind classify(
	const char *head, size_t length, const char *path, enum byte_encoding encoding)
{
	static const char sqlite[] = "SQLite format 3"; /* and its NUL */
	if (length == 0)
		return (struct file_kind){FORMAT_FOREIGN, EMPTY_FILE};
	if (length >= sizeof sqlite && memcmp(head, sqlite, sizeof sqlite) == 0) {
		if (encoding == BYTES_GZIP)
			return (struct file_kind){
				FORMAT_FOREIGN, "a gzipped SQLite database; decompress it first"};
		if (is_ours(head, length))
			return (struct file_kind){
				encoding == BYTES_ZSTD ? FORMAT_INQ_ZST : FORMAT_INQ,
				"a trace of this program"};
		return (struct file_kind){encoding == BYTES_ZSTD ? FORMAT_FOREIGN : FORMAT_NSYS,
			"a SQLite database of another program, perhaps an export of Nsight "
			"Systems, " INSTEAD_OF_NSYS};
	}
	/* A byte order mark is no JSON, and is met at its start all the same: it reads as text. */
	size_t at = 0;
	while (at < length && is_space(head[at]))
		at++;
	if (at == length)
		return (struct file_kind){FORMAT_FOREIGN, "a file of white space"};
	if (head[at] == '{' || head[at] == '[')
		return (struct file_kind){FORMAT_JSON, "a JSON document"};
	if (head[at] == '"')
		return (struct file_kind){FORMAT_FOREIGN, FOREIGN_JSON};
	return (struct file_kind){FORMAT_FOREIGN, name_of_foreign(head, length, path)};
}

bool detect_file(const char *path, struct file_kind *ret, struct err *err)
{
	struct stat status;
	if (stat(path, &status) != 0)
		return err_set_errno(err, errno, "can't open");
	if (S_ISDIR(status.st_mode)) {
		*ret = (struct file_kind){FORMAT_FOREIGN, "a directory"};
		return true;
	}
	if (!S_ISREG(status.st_mode)) {
		*ret = (struct file_kind){FORMAT_FOREIGN, "a device, pipe or socket"};
		return true;
	}
	struct byte_source *source = byte_source_open(path, err);
	if (!source)
		return false;
	char head[HEAD_BYTES];
	size_t length = 0, got = 1;
	bool is_read = true;
	while (is_read && got > 0 && length < sizeof head) {
		is_read = byte_source_read(source, head + length, sizeof head - length, &got, err);
		length += is_read ? got : 0;
	}
	if (is_read)
		*ret = classify(head, length, path, byte_source_encoding(source));
	if (is_read && length == 0 && byte_source_encoding(source) != BYTES_PLAIN)
		ret->looks_like = "compressed data that is damaged or holds nothing";
	byte_source_close(source);
	return is_read;
}

bool detect_refuse(const struct file_kind *kind, struct err *err)
{
	return err_set(err, ERR_INPUT, "no trace: it looks like %s", kind->looks_like);
}
