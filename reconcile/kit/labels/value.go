package labels

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

const hashDigits = 8

// Value returns text if it is a valid label value. Otherwise it replaces characters that label values can't have by
// dashes, shortens the text, and appends a dash and 8 digits of the hash of text, so that different texts have
// different values. The result has at most 63 characters. Names of Kubernetes are shortened as reconcile.Truncate does
// it.
func Value(text string) string {
	if len(validation.IsValidLabelValue(text)) == 0 {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	head := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c) {
			return c
		}
		return '-'
	}, text)
	head = head[:min(len(head), validation.LabelValueMaxLength-1-hashDigits)]
	return cmp.Or(strings.Trim(head, "-_."), "x") + "-" + hex.EncodeToString(sum[:])[:hashDigits]
}
