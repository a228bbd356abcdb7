package hygiene

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/tools/check/internal/repository"
)

// largest is how many bytes a file may have: more than any source, less than any program.
const largest = 1 << 20

// Large gives a line for every file that is too large for a source, as a program is that was built where its source lies.
// Who clones the repository gets it forever once it is committed.
func Large(ctx context.Context, r *repository.Repository) ([]string, error) {
	files, err := r.Files(ctx)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, name := range files {
		info, err := os.Stat(filepath.Join(r.Root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if info.Size() > largest {
			problems = append(problems, fmt.Sprintf("%s: %.1f MB, more than the one that a file may have: remove what was built, and have data made where it is needed",
				name, float64(info.Size())/(1<<20)))
		}
	}
	return problems, nil
}
