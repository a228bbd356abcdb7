package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/operkit/operkit/reconcile/handlers/internal/essence"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	// longestName is the length of the name of an annotation, and hashDigits the digits that end a name that was cut.
	longestName = 63
	hashDigits  = 8
)

// Key returns the key of the annotation of an operator. Each operator of a domain has a key of its own; operator may be
// empty. A name that is too long is cut, and ends in digits of its hash. The error says what is wrong with the names.
func Key(domain, operator string) (string, error) {
	name := essence.Mark
	if operator != "" {
		name += "." + operator
	}
	if len(name) > longestName {
		sum := sha256.Sum256([]byte(name))
		name = strings.TrimRight(name[:longestName-hashDigits-1], "-_.") + "-" + hex.EncodeToString(sum[:])[:hashDigits]
	}
	key := domain + "/" + name
	if faults := validation.IsQualifiedName(strings.ToLower(key)); len(faults) > 0 {
		return "", fmt.Errorf("operator %q in the domain %q: no annotation can have such a name: %s", operator, domain, faults[0])
	}
	return key, nil
}
