//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import (
	"errors"
	"os"
)

func flock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
