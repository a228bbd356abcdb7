package lifecycle

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/util/validation"
)

// IsFinalizer reports whether a finalizer may have a name: it needs a domain, a slash and a name.
func IsFinalizer(name string) bool {
	return len(validation.IsQualifiedName(name)) == 0 && strings.Contains(name, "/")
}

// FinalizerName returns the name of the finalizer of a style: given, or <domain>/<operator> if given is empty, by the
// domain and the field manager of the manager. The error says that there can't be such a finalizer, and to set another
// name by the named option; given was checked before.
func FinalizerName(m *deploy.Manager, given, option string) (string, error) {
	if given != "" {
		return given, nil
	}
	name := m.KeyDomain() + "/" + m.FieldManager()
	if faults := validation.IsQualifiedName(name); len(faults) > 0 {
		return name, fmt.Errorf("finalizer %q: %s: set one by the option %s", name, strings.Join(faults, "; "), option)
	}
	return name, nil
}
