package operkit

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/operkit/operkit/tools/integration/internal/publishing"
)

var published publishing.Published

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "operkit-published-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }() // nobody needs it any more
		published, err = publishing.Publish(context.Background(), "../../..", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "publish the working tree:", err)
		return 1
	}
	return m.Run()
}
