package unixsocket

import (
	"fmt"
	"os"
)

func throughDirectory(dir, name string) (string, func(), error) {
	d, err := os.Open(dir)
	if err != nil {
		return "", nil, fmt.Errorf("socket directory: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name), func() { _ = d.Close() }, nil
}
