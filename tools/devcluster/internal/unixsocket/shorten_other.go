//go:build !linux

package unixsocket

import "fmt"

func throughDirectory(dir, name string) (string, func(), error) {
	return "", nil, fmt.Errorf("socket %s/%s: the path is longer than %d bytes, choose a shorter directory", dir, name, maxPath)
}
