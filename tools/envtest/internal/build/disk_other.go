//go:build !(linux || darwin || freebsd)

package build

func freeDisk(string) (bytes, volume uint64, ok bool) { return 0, 0, false }
