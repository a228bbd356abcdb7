package explore

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// forgetful creates a child with a generated name unless status.made is set. After a crash between both writes it
// creates a second child. Duplicates made another operator give up generated names, as this one's twin does:
// https://github.com/statnett/image-scanner-operator/pull/48
func forgetful(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if statusOf(resource, "made") == "yes" {
		return nil
	}
	name, exists := "generateName: till-", false
	if m.sound {
		till, err := m.get(ctx, "ConfigMap", "till", resource)
		if err != nil {
			return err
		}
		name, exists = "name: till", till != nil
	}
	if !exists {
		if err := m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {%s}}", name); err != nil {
			return err
		}
	}
	if m.sound {
		return nil
	}
	return m.status(ctx, resource, "made", "yes")
}

// careless generates a password unless status.made is set. After a crash it replaces the stored password.
func careless(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if statusOf(resource, "made") == "yes" && !m.sound {
		return nil
	}
	secret, err := m.get(ctx, "Secret", "key", resource)
	if err == nil && secret == nil {
		err = m.create(ctx, resource, "{apiVersion: v1, kind: Secret, metadata: {name: key}, stringData: {password: %q}}", rand.Text())
	} else if err == nil && !m.sound {
		err = m.patch(ctx, secret, "", fmt.Sprintf(`{"stringData":{"password":%q}}`, rand.Text()))
	}
	if err != nil {
		return err
	}
	return m.status(ctx, resource, "made", "yes")
}

// renewing generates a password when the process starts, and replaces the stored one by it:
// https://github.com/arkmq-org/arkmq-org-broker-operator/issues/58
func renewing(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if m.kept["password"] == "" {
		m.kept["password"] = base64.StdEncoding.EncodeToString([]byte(rand.Text()))
	}
	secret, err := m.get(ctx, "Secret", "key", resource)
	switch {
	case err != nil:
		return err
	case secret == nil:
		return m.create(ctx, resource, "{apiVersion: v1, kind: Secret, metadata: {name: key}, data: {password: %q}}", m.kept["password"])
	case m.sound || dataOf(secret, "password") == m.kept["password"]:
		return nil
	}
	return m.patch(ctx, secret, "", fmt.Sprintf(`{"data":{"password":%q}}`, m.kept["password"]))
}

// expanding makes a disk larger: it deletes the set, whose template has the old size, enlarges the disk, and creates
// the set again. It compares sizes with the set alone, so a crash between the first two steps leaves the disk small:
// https://github.com/rabbitmq/cluster-operator/issues/782. ConfigMaps stand for the StatefulSet and the claim.
func expanding(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size := fmt.Sprint(sizeOf(resource))
	present, err := m.list(ctx, resource)
	if err != nil {
		return err
	}
	set, disk := present["set"], present["disk"]
	expands := set != nil && sizeLabel(set) != size
	if expands {
		if err := m.delete(ctx, set); err != nil {
			return err
		}
		set = nil
	}
	if disk != nil && sizeLabel(disk) != size && (expands || m.sound) {
		if err := m.relabel(ctx, disk, size); err != nil {
			return err
		}
	}
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {size: %q}}}"
	if disk == nil {
		err = m.create(ctx, resource, text, "disk", size)
	}
	if set == nil && err == nil {
		err = m.create(ctx, resource, text, "set", size)
	}
	return err
}

// shrinking removes the last nodes, and then their disks. It records how many nodes there are before it has deleted the
// disks, so a crash in between leaves disks: https://github.com/Orange-OpenSource/casskop/issues/370. ConfigMaps stand
// for both.
func shrinking(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	present, err := m.list(ctx, resource)
	if err != nil {
		return err
	}
	var recorded int64
	_, _ = fmt.Sscan(statusOf(resource, "nodes"), &recorded) // nothing is recorded at first
	if m.sound {
		recorded = 2 // as many as there may be: what a process did before it was killed may not be recorded
	}
	ensure := func(name string) error {
		for i := range max(recorded, sizeOf(resource)) {
			var err error
			if obj := present[fmt.Sprintf("%s-%d", name, i)]; i < sizeOf(resource) && obj == nil {
				err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-%d}}", name, i)
			} else if i >= sizeOf(resource) && obj != nil {
				err = m.delete(ctx, obj)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	nodes := func() error { return ensure("node") }
	disks := func() error { return ensure("disk") }
	record := func() error { return m.status(ctx, resource, "nodes", fmt.Sprint(sizeOf(resource))) }
	steps := []func() error{nodes, record, disks}
	if m.sound {
		steps = []func() error{nodes, disks, record}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// resigning doesn't try again what was refused once because of its content: a failure of the author, as it takes it.
func resigning(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if statusOf(resource, "text") == "wrong" {
		return nil
	}
	err := careful(ctx, m, resource)
	if _, invalid := errors.AsType[*deploy.InvalidError](err); invalid && !m.sound {
		return m.status(ctx, resource, "text", "wrong")
	}
	return err
}

// givingUp logs an error, and ends as if all were well: https://github.com/redpanda-data/redpanda/pull/980
func givingUp(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if err := careful(ctx, m, resource); m.sound {
		return err
	}
	return nil
}
