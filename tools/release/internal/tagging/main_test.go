package tagging_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/plan"
	"github.com/operkit/operkit/tools/release/internal/tagging"
)

// rootVariable has the test binary release a repository and end, so that it can be killed.
const rootVariable = "RELEASE_TEST_ROOT"

var day = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func TestMain(m *testing.M) {
	if root := os.Getenv(rootVariable); root != "" {
		if _, err := release(context.Background(), root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// release is what the command apply does.
func release(ctx context.Context, root string) (tagging.Result, error) {
	r, err := repository.At(root)
	if err != nil {
		return tagging.Result{}, err
	}
	p, err := plan.Make(ctx, r, day)
	if err != nil {
		return tagging.Result{}, err
	}
	if err := tagging.Check(ctx, r, p); err != nil {
		return tagging.Result{}, err
	}
	return tagging.Apply(ctx, r, p)
}
