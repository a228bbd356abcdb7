package envtest

import (
	"context"
	"math/rand/v2"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// testAnnotation is the annotation of a namespace with the full name of its test, for people who inspect the
	// cluster.
	testAnnotation = "operkit.dev/test"
	// longestName is the maximum length of the test's name in the name of its namespace, which may have 63 characters.
	longestName = 48
	suffix      = 8
)

var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	configMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// namespaceName returns a new name that resembles the test's name and is valid for namespaces, labels and DNS.
func namespaceName(test string) string {
	var name strings.Builder
	for _, r := range strings.ToLower(test) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9' && name.Len() > 0:
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
	}
	short := strings.TrimRight(name.String()[:min(name.Len(), longestName)], "-")
	if short == "" {
		short = "test"
	}
	return short + "-" + random()
}

// random returns a few random letters and digits.
func random() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	name := make([]byte, suffix)
	for i := range name {
		name[i] = letters[rand.IntN(len(letters))]
	}
	return string(name)
}

// createNamespace creates a namespace in which pods can be created at once. It also creates the service account that
// pods need. A controller would do that a little later; it leaves an existing service account unchanged.
func (p *plane) createNamespace(ctx context.Context, name, test string) error {
	namespace := object("v1", "Namespace", name)
	namespace.SetAnnotations(map[string]string{testAnnotation: test})
	if _, err := p.client.Resource(namespaces).Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return err
	}
	account := object("v1", "ServiceAccount", "default")
	_, err := p.client.Resource(serviceAccounts).Namespace(name).Create(ctx, account, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func object(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	return o
}
