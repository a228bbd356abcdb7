package snippet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/check/internal/repository"
)

// Check gives a line for each block that differs from what it shows, or that names nothing. With write it fills these
// blocks instead and gives a line only for those that it can't. shown counts the blocks.
func Check(ctx context.Context, r *repository.Repository, write bool) (problems []string, shown int, err error) {
	files, err := r.Files(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range files {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		path := filepath.Join(r.Root, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, 0, err
		}
		page, found, count := compare(r.Root, string(text), write)
		for _, problem := range found {
			problems = append(problems, name+":"+problem)
		}
		shown += count
		if page == string(text) {
			continue
		}
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			return nil, 0, err
		}
	}
	return problems, shown, nil
}

// compare holds one page against the files that it shows, and gives it with the blocks filled when write is set.
func compare(root, text string, write bool) (page string, problems []string, shown int) {
	lines := strings.Split(text, "\n")
	found, problems := blocks(lines)
	var filled []string
	at := 0
	for _, b := range found {
		source, err := read(root, b.source)
		var wanted string
		if err == nil {
			wanted, err = b.wanted(source)
		}
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%d: %v", b.line, err))
		case wanted == b.shown(lines):
		case write:
			filled = append(append(filled, lines[at:b.first]...), wanted)
			at = b.last
		default:
			problems = append(problems, fmt.Sprintf("%d: the block is not what %s holds; run check snippets -w", b.line, b.source))
		}
	}
	return strings.Join(append(filled, lines[at:]...), "\n"), problems, len(found)
}
