package main

import (
	"debug/elf"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostBytes is how large the binary may be.
const mostBytes = 15 << 20

// It has to run in an image in which nothing else is.
func TestBinaryIsSmallAndStatic(t *testing.T) {
	t.Parallel()
	info, err := os.Stat(program)
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(mostBytes))
	file, err := elf.Open(program)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	for _, part := range file.Progs {
		assert.NotEqual(t, elf.PT_INTERP, part.Type, "it needs no loader")
		assert.NotEqual(t, elf.PT_DYNAMIC, part.Type, "and no library")
	}
	libraries, err := file.ImportedLibraries()
	require.NoError(t, err)
	assert.Empty(t, libraries)
}
