package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

func TestPortList(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, dryrun.Objects(
		object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: shop, labels: {app: web}}}"),
		object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop, labels: {app: db}}}"),
		object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: bank}}"),
		object(t, "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}"),
	))
	for name, test := range map[string]struct {
		namespace, labels, fields string
		want                      []string
	}{
		"deploy W21: no namespace means all of them, ascending": {"", "", "", []string{"bank/a", "shop/a", "shop/b"}},
		"one namespace":                           {"shop", "", "", []string{"shop/a", "shop/b"}},
		"by label":                                {"", "app", "", []string{"shop/a", "shop/b"}},
		"deploy W22: by name":                     {"", "", "metadata.name=a", []string{"bank/a", "shop/a"}},
		"deploy W22: by namespace":                {"", "", "metadata.namespace!=shop", []string{"bank/a"}},
		"deploy 35: both selectors have to match": {"", "app=db", "metadata.name=a", []string{"shop/a"}},
		"nothing that is both":                    {"", "app=web", "metadata.name=a", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			byLabel, err := labels.Parse(test.labels)
			require.NoError(t, err)
			byField, err := fields.ParseSelector(test.fields)
			require.NoError(t, err)
			objects, err := requests(cluster).List(t.Context(), configMap, test.namespace, deploy.ListOptions{Labels: byLabel, Fields: byField})
			require.NoError(t, err)
			var names []string
			for _, obj := range objects {
				names = append(names, obj.GetNamespace()+"/"+obj.GetName())
			}
			assert.Equal(t, test.want, names)
		})
	}
	t.Run("deploy 35: no selectors match all", func(t *testing.T) {
		t.Parallel()
		objects, err := requests(cluster).List(t.Context(), configMap, "", deploy.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, objects, 3)
	})
}
