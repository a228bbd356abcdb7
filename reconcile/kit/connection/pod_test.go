package connection_test

import (
	"encoding/json"
	"testing"

	"github.com/operkit/operkit/reconcile/kit/connection"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestPod(t *testing.T) {
	t.Parallel()
	reader := &cluster{objects: map[string]map[string]string{
		"Secret db": {"user": "u" + hush, "password": hush, "uri": "redis://" + hush, "ca.crt": pemOfCA}, "ConfigMap net": {"host": hush},
	}}
	b, err := connection.Read(t.Context(), reader, connection.Source{Namespace: "shop", Secret: "db", ConfigMap: "net", Parts: map[connection.Part]connection.From{connection.Port: {Value: "5432"}}})
	require.NoError(t, err)
	t.Run("connection 11: variables refer to the keys", func(t *testing.T) {
		t.Parallel()
		variables := b.Env("DB_")
		short := map[string]string{}
		for _, each := range variables {
			switch {
			case each.ValueFrom == nil:
				short[each.Name] = each.Value
			case each.ValueFrom.SecretKeyRef != nil:
				short[each.Name] = "Secret " + each.ValueFrom.SecretKeyRef.Name + " " + each.ValueFrom.SecretKeyRef.Key
			default:
				short[each.Name] = "ConfigMap " + each.ValueFrom.ConfigMapKeyRef.Name + " " + each.ValueFrom.ConfigMapKeyRef.Key
			}
		}
		assert.Equal(t, map[string]string{
			"DB_HOST": "ConfigMap net host", "DB_PORT": "5432", "DB_USERNAME": "Secret db user", "DB_PASSWORD": "Secret db password", "DB_URI": "Secret db uri",
		}, short)
		encoded, err := json.Marshal(variables)
		require.NoError(t, err)
		assert.NotContains(t, string(encoded), hush)
	})
	t.Run("connection 12: a volume has a file for each part", func(t *testing.T) {
		t.Parallel()
		volume, found := b.Volume("db")
		require.True(t, found)
		assert.Equal(t, map[string]string{"host": "net", "username": "db", "password": "db", "uri": "db", "ca.crt": "db"}, files(volume))
		assert.Equal(t, int32(0o440), *volume.Projected.DefaultMode)
	})
	t.Run("connection 12: or for those that are wanted", func(t *testing.T) {
		t.Parallel()
		volume, found := b.Volume("tls", connection.CA, connection.Port)
		require.True(t, found)
		assert.Equal(t, map[string]string{"ca.crt": "db"}, files(volume))
		_, found = b.Volume("none", connection.Port, connection.Region)
		assert.False(t, found)
	})
}

func TestPodsAreRestarted(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		how string
		use func(b *connection.Binding, pod *corev1.PodSpec)
	}{
		{"environment variables", func(b *connection.Binding, pod *corev1.PodSpec) { pod.Containers[0].Env = b.Env("DB_") }},
		{"a volume", func(b *connection.Binding, pod *corev1.PodSpec) {
			volume, _ := b.Volume("db")
			pod.Volumes = []corev1.Volume{volume}
		}},
	} {
		t.Run("connection 16: a changed Secret changes the hash of Pods with "+row.how, func(t *testing.T) {
			t.Parallel()
			hash := func(password string) string {
				reader := secret(map[string]string{"host": "db", "password": password})
				b, err := connection.Read(t.Context(), reader, db)
				require.NoError(t, err)
				spec := appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}}}}
				row.use(b, &spec.Template.Spec)
				content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&appsv1.Deployment{
					TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"}, Spec: spec,
				})
				require.NoError(t, err)
				annotated, missing, err := podhash.New().Annotate(t.Context(), &unstructured.Unstructured{Object: content}, "shop", reader.Get)
				require.NoError(t, err)
				assert.Empty(t, missing)
				hash, _, err := unstructured.NestedString(annotated.Object, "spec", "template", "metadata", "annotations", "operkit.dev/dependency-hash")
				require.NoError(t, err)
				require.NotEmpty(t, hash)
				return hash
			}
			assert.Equal(t, hash("one"), hash("one"))
			assert.NotEqual(t, hash("one"), hash("two"))
		})
	}
}

// files returns the names of the objects in a volume by the paths of their files.
func files(volume corev1.Volume) map[string]string {
	all := map[string]string{}
	for _, source := range volume.Projected.Sources {
		if source.Secret != nil {
			all[source.Secret.Items[0].Path] = source.Secret.Name
		} else {
			all[source.ConfigMap.Items[0].Path] = source.ConfigMap.Name
		}
	}
	return all
}
