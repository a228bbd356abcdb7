package ruletest

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// defaultNamespace is the namespace of objects that have none.
const defaultNamespace = "default"

// anyUID is the uid of objects that have none.
const anyUID = "00000000-0000-4000-8000-000000000000"

// complete sets what the API server sets in the metadata of an object that it stores.
func complete(object *unstructured.Unstructured, namespaced bool) {
	if namespaced && object.GetNamespace() == "" {
		object.SetNamespace(defaultNamespace)
	}
	if prefix := object.GetGenerateName(); object.GetName() == "" && prefix != "" {
		object.SetName(prefix + "x7k2p")
	}
	if object.GetUID() == "" {
		object.SetUID(anyUID)
	}
	if object.GetCreationTimestamp().Time.IsZero() {
		object.SetCreationTimestamp(metav1.NewTime(time.Now().UTC().Truncate(time.Second)))
	}
}

// documents returns the documents of a YAML file.
func documents(content string) []string {
	return strings.Split("\n"+strings.ReplaceAll(content, "\r\n", "\n"), "\n---")
}
