/*
 * Stands in for libFuzzer where a compiler has none: runs a target over the files of the folders
 * given, whole and cut at many places.  What goes wrong ends the process, as under the fuzzer.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTS	  64 /* places at which a file is cut */
#define MAX_BYTES (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file) {
		perror(path);
		return 1;
	}
	uint8_t *bytes = malloc(MAX_BYTES);
	const size_t size = bytes ? fread(bytes, 1, MAX_BYTES, file) : 0;
	fclose(file);
	for (size_t cut = 0; bytes && cut <= CUTS; cut++) {
		/* A block of just that size, so that a read behind its end is seen. */
		const size_t length = size * cut / CUTS;
		uint8_t *input = malloc(length ? length : 1);
		if (!input)
			break;
		memcpy(input, bytes, length);
		LLVMFuzzerTestOneInput(input, length);
		free(input);
	}
	free(bytes);
	return !bytes;
}

static int replay_folder(const char *folder, int *file_count)
{
	DIR *listing = opendir(folder);
	if (!listing) {
		perror(folder);
		return 1;
	}
	int failed = 0;
	for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
		char path[4096];
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		failed |= replay_file(path);
		++*file_count;
	}
	closedir(listing);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = argc < 2, file_count = 0;
	for (int i = 1; i < argc; i++)
		failed |= replay_folder(argv[i], &file_count);
	printf("%d files\n", file_count);
	return failed || file_count == 0;
}
