package envtest_test

import (
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/stretchr/testify/require"
)

// TestMain proves that a shared control plane leaves no goroutine in the process, whether it was started here or not.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

func client(t *testing.T, config *rest.Config) *dynamic.DynamicClient {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	return client
}

func configMap(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
	}}
}

// createConfigMap creates a ConfigMap as whoever the configuration says.
func createConfigMap(t *testing.T, config *rest.Config, namespace, name string) error {
	t.Helper()
	_, err := client(t, config).Resource(configMaps).Namespace(namespace).Create(t.Context(), configMap(name), metav1.CreateOptions{})
	return err
}
