package hygiene

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/process"
)

// differences gives a text for each file that differs between two snapshots, sorted by name.
func differences(ctx context.Context, before, after map[string]file) ([]string, error) {
	names := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(names)
	var texts []string
	for _, name := range slices.Compact(names) {
		was, existed := before[name]
		is, exists := after[name]
		switch {
		case existed && exists && bytes.Equal(was.text, is.text):
		case !existed:
			texts = append(texts, name+": a generator makes it, but it was not there; commit it")
		case !exists:
			texts = append(texts, name+": a generator removed it")
		default:
			diff, err := unified(ctx, was.text, is.text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			texts = append(texts, name+": not fresh, the generator makes this of it; commit the result\n"+diff)
		}
	}
	return texts, nil
}

// unified gives the difference of two texts from its first hunk on, as git diff prints it.
func unified(ctx context.Context, was, is []byte) (string, error) {
	dir, err := os.MkdirTemp("", "operkit-diff-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, text := range map[string][]byte{"was": was, "is": is} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return "", err
		}
	}
	out, err := process.Output(ctx, process.Command(ctx, dir, nil, "git", "diff", "--no-index", "--no-color", "--no-ext-diff", "was", "is"))
	if err != nil && !process.Failed(err) {
		return "", err
	}
	if hunk := strings.Index(string(out), "@@"); hunk >= 0 {
		out = out[hunk:]
	}
	return strings.TrimRight(string(out), "\n"), nil
}
