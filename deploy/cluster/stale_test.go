package cluster_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// A group whose API server is down is listed without resources and without an error: what it serves isn't
// known, which isn't the same as nothing.
func TestKindsOfAGroupThatIsDown(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t, envtest.OwnCluster("--components=etcd,apiserver")) // others would miss the group too
	client, err := dynamic.NewForConfig(env.Admin)
	require.NoError(t, err)
	services := client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	const name = "v1.dead.operkit.dev"
	down := object(t, "", `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: `+name+`}
spec: {group: dead.operkit.dev, version: v1, groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true,
  service: {namespace: `+env.Namespace+`, name: nobody}}`)
	_, err = services.Create(t.Context(), down, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, services.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}))
	})
	port := newCluster(t, env.Config).Port()
	require.Eventually(t, func() bool {
		found, err := port.Kinds(t.Context(), "Gadget")
		return err != nil && len(found) == 0
	}, patience, patience/100, "its kinds would pass for ones that aren't served")
	found, err := port.Kinds(t.Context(), "Deployment")
	require.Error(t, err)
	require.Len(t, found, 1, "what is known is known all the same")
}
