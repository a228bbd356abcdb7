package envtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/operkit/operkit/tools/envtest"
)

func TestMyOperator(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	operator := env.User(t, "operator", envtest.RolesIn("testdata/roles")) // the rights that it ships with
	client, err := dynamic.NewForConfig(operator.Config)                   // or env.Kubeconfig(t, operator), for a child process
	require.NoError(t, err)
	mark := env.Mark(t)

	_, err = client.Resource(configMaps).Namespace(env.Namespace).Create(t.Context(), configMap("settings"), metav1.CreateOptions{})
	require.NoError(t, err)

	calls := env.CallsSince(t, mark, operator)
	require.Equal(t, map[string]int{"create configmaps": 1}, calls.Count())
	require.Empty(t, calls.Forbidden(), "its rights suffice")
}
