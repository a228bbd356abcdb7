package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
)

const (
	longestName = 63
	hashDigits  = 8
)

// ScopedName returns the name for an object of the resource: the resource's name, a dash
// and name. Longer than 63 characters it is cut and ends in a dash and 8 digits of the whole
// name's hash, so that it stays a valid label value and doesn't collide (spec: reconcile 6).
func (s *Session) ScopedName(name string) string { return Truncate(s.Name() + "-" + name) }

// Truncate shortens a name to 63 characters as ScopedName does.
func Truncate(name string) string {
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	head := name[:longestName-hashDigits-1]
	for head != "" && !alphanumeric(head[len(head)-1]) {
		head = head[:len(head)-1]
	}
	digits := hex.EncodeToString(sum[:])[:hashDigits]
	if head == "" {
		return digits
	}
	return head + "-" + digits
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
