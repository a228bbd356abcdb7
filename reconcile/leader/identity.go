package leader

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// replica is the name of this replica, without anything random (spec: watch 32).
func (o options) replica() (string, error) {
	if name := strings.TrimSpace(o.identity); name != "" {
		return name, nil
	}
	if name := strings.TrimSpace(os.Getenv("POD_NAME")); name != "" {
		return name, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("identity: set POD_NAME or give one: %w", err)
	}
	name, _, _ := strings.Cut(host, ".")
	if name == "" {
		return "", errors.New("identity: the host has no name: set POD_NAME or give one")
	}
	return name, nil
}

// NamespaceFile is where a Pod with a service account is told its namespace; outside of a Pod it doesn't exist.
const NamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// unique is the name of a replica with a random end, so that a container that is started again doesn't take
// itself for the one before, whose calls may still be under way.
func unique(replica string) string { return replica + "_" + strings.ToLower(rand.Text()[:10]) }

// place reads "namespace/name", or "name" alone in the namespace of the service account (spec: watch 32).
func (o options) place(name string) (string, string, error) {
	namespace, base, both := strings.Cut(name, "/")
	if !both {
		base = name
		content, err := os.ReadFile(o.namespaceFile)
		if err != nil {
			return "", "", fmt.Errorf("name %q: it has no namespace, and no service account says one: give it as namespace/name: %w", name, err)
		}
		namespace = strings.TrimSpace(string(content))
	}
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return "", "", fmt.Errorf("name %q: namespace %q: %s", name, namespace, problems[0])
	}
	if problems := validation.IsDNS1123Subdomain(base); len(problems) > 0 {
		return "", "", fmt.Errorf("name %q: %s", name, problems[0])
	}
	return namespace, base, nil
}
