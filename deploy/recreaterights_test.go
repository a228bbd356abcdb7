package deploy_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func ExampleRecreateRights() {
	database := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Database"}
	for _, right := range deploy.RecreateRights(database, deploy.Namespaced) {
		fmt.Println(right.Verbs, right.Kind.Kind)
	}
	// Output:
	// [list] PersistentVolumeClaim
	// [list] ResourceQuota
}

func TestRecreateRights(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		kind   string
		scope  deploy.Scope
		want   []string
	}{
		{"a namespaced object may own claims and count in quotas", "Database", deploy.Namespaced, []string{"PersistentVolumeClaim", "ResourceQuota"}},
		{"the addresses of Services are compared", "Service", deploy.Namespaced, []string{"PersistentVolumeClaim", "ResourceQuota", "Service"}},
		{"a cluster-scoped object may own all that is protected, and counts in no quota", "Database", deploy.ClusterScoped, []string{
			"Namespace", "PersistentVolume", "PersistentVolumeClaim", "CustomResourceDefinition", "VolumeSnapshot", "VolumeSnapshotContent",
		}},
	} {
		group := "example.dev"
		if row.kind == "Service" {
			group = ""
		}
		var kinds []string
		for _, right := range deploy.RecreateRights(schema.GroupVersionKind{Group: group, Version: "v1", Kind: row.kind}, row.scope) {
			assert.Equal(t, []string{"list"}, right.Verbs)
			kinds = append(kinds, right.Kind.Kind)
		}
		assert.Equal(t, row.want, kinds, row.reason)
	}
}
