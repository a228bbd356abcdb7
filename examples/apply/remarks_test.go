package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
)

// What the cluster remarks, and whose fields were taken or left, is told, though nothing has failed.
func TestRemarks(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newProgress(&out, newTable(nil), false)
	ref := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: "a"}
	p.applied(deploy.Result{
		Ref: ref, Action: deploy.Configured, Warnings: []string{"v1 is deprecated"},
		Taken: []deploy.FieldConflict{{Field: ".data.a", Manager: "kubectl"}},
		Kept:  []deploy.FieldConflict{{Field: ".spec.replicas", Manager: "hpa"}},
	})
	require.NoError(t, p.end())
	assert.Contains(t, out.String(), "\nConfigMap shop/a: warning: v1 is deprecated\nConfigMap shop/a: .data.a was taken from kubectl\n"+
		"ConfigMap shop/a: .spec.replicas was left to hpa\n1 configured\n")
}
