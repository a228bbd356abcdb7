package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// tailBytes is how much Tail reads at most; that is enough for the stack trace of a Go program.
const tailBytes = 16 << 10

// Tail returns the last lines of a file, at most count of them and at most 16 KiB.
func Tail(path string, count int) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("log: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("log: %w", err)
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tailBytes), tailBytes))
	if err != nil {
		return "", fmt.Errorf("log %s: %w", path, err)
	}
	lines := bytes.Split(bytes.TrimRight(raw, "\n"), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-count):], []byte("\n"))), nil
}
