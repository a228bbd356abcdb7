//go:build !unix

package devcluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/tools/envtest/internal/filelock"
)

type supervisor struct {
	home home
}

func supervise(home, *filelock.Lock, string, []string) (*supervisor, error) {
	return nil, fmt.Errorf("devcluster on this system: %w", errors.ErrUnsupported)
}

func (*supervisor) ended() (bool, string)      { return true, "" }
func (*supervisor) stop(context.Context) error { return nil }
