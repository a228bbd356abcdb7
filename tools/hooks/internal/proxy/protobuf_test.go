package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// packed returns an object in protobuf. more is added behind its fields.
func packed(t *testing.T, kind string, object interface{ Marshal() ([]byte, error) }, more ...byte) string {
	t.Helper()
	content, err := object.Marshal()
	require.NoError(t, err)
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: append(content, more...)}
	all, err := envelope.Marshal()
	require.NoError(t, err)
	return "k8s\x00" + string(all)
}

// unpacked decodes an object.
func unpacked(t *testing.T, body string, into interface{ Unmarshal(content []byte) error }) {
	t.Helper()
	content, ok := strings.CutPrefix(body, "k8s\x00")
	require.True(t, ok)
	var envelope runtime.Unknown
	require.NoError(t, envelope.Unmarshal([]byte(content)))
	assert.Equal(t, "v1", envelope.APIVersion)
	require.NoError(t, into.Unmarshal(envelope.Raw))
}

func TestProtobuf(t *testing.T) {
	t.Parallel()
	api := startFake(t, existing)
	p, _ := startProxy(t, api.url)
	access := issue(t, p, configMaps, secrets)
	client := use(t, access)
	tom := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Cat", Name: "tom", UID: "uid-of-tom"}
	other := metav1.OwnerReference{Name: "other", UID: "other"}
	annotations := map[string]string{"operator-sdk/primary-resource": "a/tom", "operator-sdk/primary-resource-type": "Cat.example.com"}
	for _, row := range []struct {
		reason, method, path string
		metadata, want       metav1.ObjectMeta
	}{
		{"a reference", "POST", "/api/v1/namespaces/a/configmaps", metav1.ObjectMeta{Name: "b"}, metav1.ObjectMeta{Name: "b", OwnerReferences: []metav1.OwnerReference{tom}}},
		{"references to others stay", "POST", "/api/v1/namespaces/a/configmaps", metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{other}}, metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{other, tom}}},
		{"one that exists stays", "POST", "/api/v1/namespaces/a/configmaps", metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{tom}}, metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{tom}}},
		{"annotations", "POST", "/api/v1/namespaces/b/configmaps", metav1.ObjectMeta{Name: "b"}, metav1.ObjectMeta{Name: "b", Annotations: annotations}},
		{"an update of one that it owns", "PUT", "/api/v1/namespaces/a/configmaps/owned", metav1.ObjectMeta{}, metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{tom}}},
		{"an update of one of others", "PUT", "/api/v1/namespaces/a/configmaps/others", metav1.ObjectMeta{}, metav1.ObjectMeta{}},
	} {
		t.Run("hooks 45: in protobuf: "+row.reason, func(t *testing.T) {
			api.requests()
			sent := &corev1.ConfigMap{ObjectMeta: row.metadata, Data: map[string]string{"a": "b"}, BinaryData: map[string][]byte{"c": {0xff}}}
			code, body := client.do(t, row.method, row.path, packed(t, "ConfigMap", sent, 0xf8, 0x06, 0x07), "Content-Type", protobuf)
			require.Equal(t, http.StatusOK, code, body)
			all := api.requests()
			got := all[len(all)-1]
			assert.Equal(t, protobuf, got.Header.Get("Content-Type"))
			assert.Contains(t, got.Body, "\xf8\x06\x07", "a field that nobody knows stays")
			var received corev1.ConfigMap
			unpacked(t, got.Body, &received)
			assert.Equal(t, &corev1.ConfigMap{ObjectMeta: row.want, Data: sent.Data, BinaryData: sent.BinaryData}, &received)
		})
	}
	t.Run("hooks 42: in protobuf: a token in a Secret", func(t *testing.T) {
		api.requests()
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Type: corev1.SecretTypeServiceAccountToken}
		got := client.refused(t, http.StatusForbidden, "POST", "/api/v1/namespaces/a/secrets", packed(t, "Secret", secret), "Content-Type", protobuf)
		assert.Contains(t, got, "its token would outlive the run")
		hidden := packed(t, "Secret", &corev1.Secret{Type: corev1.SecretTypeOpaque}, append([]byte{3<<3 | 2, byte(len(corev1.SecretTypeServiceAccountToken))}, corev1.SecretTypeServiceAccountToken...)...)
		got = client.refused(t, http.StatusForbidden, "POST", "/api/v1/namespaces/a/secrets", hidden, "Content-Type", protobuf)
		assert.Contains(t, got, "its token would outlive the run", "the last type counts")
		assert.Empty(t, api.requests())
	})
	t.Run("hooks 47: in protobuf: the name", func(t *testing.T) {
		client.do(t, "POST", "/api/v1/namespaces/a/secrets", packed(t, "Secret", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "made"}}), "Content-Type", protobuf)
		var names []string
		for _, one := range access.Written() {
			if one.Kind.Kind == "Secret" {
				names = append(names, one.Name)
			}
		}
		assert.Equal(t, []string{"made"}, names)
	})
}
