package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shape is what of the children is the same in every namespace: labels, owners, data and
// specification without what the cluster draws by lot.
func (w *world) shape() map[string]string {
	w.t.Helper()
	shape := map[string]string{}
	for _, child := range []struct {
		kind schema.GroupVersionKind
		name string
	}{
		{secrets, "hello-redis"}, {services, "hello-redis"}, {statefulSets, "hello-redis"},
		{configMaps, "hello-web"}, {services, "hello-web"}, {deployments, "hello-web"},
	} {
		obj := w.get(child.kind, child.name)
		require.NotNil(w.t, obj, child.kind.Kind+" "+child.name)
		owners := len(obj.GetOwnerReferences())
		spec, _ := obj.Object["spec"].(map[string]any)
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
		content := map[string]any{"labels": obj.GetLabels(), "owners": owners, "spec": spec, "generation": obj.GetGeneration()}
		if child.kind == configMaps {
			content["data"] = obj.Object["data"]
		}
		if child.kind == secrets {
			data, _ := obj.Object["data"].(map[string]any)
			password, _ := data["password"].(string)
			content["password"] = len(password)
		}
		shape[child.kind.Kind+" "+child.name] = strings.ReplaceAll(mustJSON(w.t, content), w.Namespace, "NAMESPACE")
	}
	return shape
}

func mustJSON(t *testing.T, value any) string {
	t.Helper()
	content, err := json.Marshal(value)
	require.NoError(t, err)
	return string(content)
}
