package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	longestName = 63
	hashDigits  = 8
)

// ScopedName returns the name for an object of the resource: the resource's name, a dash and name, shortened by
// TruncatedName so that it is a valid label value. The name of a StatefulSet or CronJob may have only 52 characters:
// have the resource's schema refuse longer ones.
func (s *Session) ScopedName(name string) string { return s.TruncatedName(s.Name() + "-" + name) }

// TruncatedName returns name, cut if it is longer than 63 characters: by Truncate, or with Oper8Names as oper8 does.
func (s *Session) TruncatedName(name string) string {
	if s.reconciler.options.oper8Names {
		return truncateOper8(name)
	}
	return Truncate(name)
}

func truncateOper8(name string) string {
	characters := []rune(name)
	if len(characters) <= longestName {
		return name
	}
	const digits = 4
	sum := sha256.Sum256([]byte(name))
	return string(characters[:longestName-digits]) + hex.EncodeToString(sum[:])[:digits]
}

// Truncate returns name. If it is longer than 63 bytes, it is cut to that length and ends in a dash and 8 digits of the
// hash of the whole name.
func Truncate(name string) string {
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	head := strings.TrimRightFunc(name[:longestName-hashDigits-1], func(c rune) bool { return !alphanumeric(c) })
	digits := hex.EncodeToString(sum[:])[:hashDigits]
	if head == "" {
		return digits
	}
	return head + "-" + digits
}

func alphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
