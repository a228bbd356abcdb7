package versions_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/child"
	"github.com/stretchr/testify/assert"
)

func init() {
	for program, release := range map[string]string{"says-v1.1.0": "v1.1.0", "says-dirty": "v1.1.0+dirty", "says-pseudo": "v1.1.1-0.20260102150405-abcdefabcdef", "says-devel": "(devel)"} {
		programs[program] = func(ctx context.Context, version string) error {
			return child.Serve(ctx, release, []reconcile.Controller{House{version}})
		}
	}
}

// A program that somebody has copied into the wrong folder renders the wrong release's objects: its manager says so.
func TestProgramInTheWrongFolder(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, program, folder string
		warned                  bool
	}{
		{"the release of the folder", "says-v1.1.0", "1.1.0", false},
		{"another release", "says-v1.1.0", "1.0.0", true},
		{"a folder that is no number", "says-v1.1.0", "stable", false},
		{"changed since the release: who builds that knows where it belongs", "says-dirty", "1.0.0", false},
		{"built between two releases", "says-pseudo", "1.0.0", false},
		{"built without a release", "says-devel", "1.0.0", false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			options := folder(t, row.program, row.folder)
			lines := &logs{}
			options.Logger = lines.logger(slog.LevelWarn)
			start(t, options)
			line := lines.line(t, "the program of a version is of another release: check that it is in the right folder")
			if !row.warned {
				assert.Nil(t, line)
				return
			}
			assert.Equal(t, map[string]any{"level": "WARN", "msg": line["msg"], "version": row.folder, "release": strings.TrimPrefix(row.program, "says-")}, line)
		})
	}
}
