package usercases

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/deploy"
)

// restored are resources whose objects a backup tool has made, with the label of an owner that is gone.
func restored() []userCase {
	return []userCase{
		{name: "restored", reason: "children are there first: no owner has the uid in their label, so they are adopted", steps: []step{
			{by: restore("restored/dcr-Crate.json", "restored/dcr-child0.json", "restored/dcr-child1.json", "restored/dcr-child2.json")},
			{apply: "restored/dcr-Crate.json", wants: wants(ready, kept)},
			{by: deletion},
		}},
	}
}

// restore creates the objects of files, as a backup tool does. They are those of the resource, which isn't there yet.
func restore(resource string, files ...string) func(s *scene) {
	return func(s *scene) {
		s.t.Helper()
		s.resource = documents(s.t, resource)[0]
		for _, file := range files {
			_, err := s.port.Create(s.t.Context(), documents(s.t, file)[0], deploy.CreateOptions{FieldManager: "backup"})
			require.NoError(s.t, err)
		}
	}
}

// deletion deletes the resource, and waits until it is gone with all its objects.
func deletion(s *scene) {
	s.t.Helper()
	s.before = nil // what goes with its resource isn't lost
	require.NoError(s.t, s.port.Delete(s.t.Context(), deploy.RefOf(s.resource), deploy.DeleteOptions{}))
	s.await(func(s *scene) error {
		for _, ref := range append(s.refs(), deploy.RefOf(s.resource)) {
			obj, err := s.port.Get(s.t.Context(), ref)
			if err != nil {
				return err
			}
			if obj != nil {
				return fmt.Errorf("%s isn't gone", ref)
			}
		}
		return nil
	})
}
