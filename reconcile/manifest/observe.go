package manifest

import (
	"path"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
)

// Observe writes a component as it was deployed, for reconcile.ObserveComponents. Files of components that the resource
// doesn't have any more are removed; a component that can't be rendered keeps its file. A failed write is logged once
// and doesn't fail the reconcile. Files of a deleted resource stay: call Remove in the controller's Finalize.
func (d *Directory) Observe(c *reconcile.Component, results deploy.Results) {
	s := c.Session()
	resource := deploy.Ref{Kind: s.Kind(), Namespace: s.Namespace(), Name: s.Name()}
	component := Of(c, results)
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.write(resource, component)
	if err == nil {
		err = d.keepOf(resource, s, component, results == nil)
	}
	d.complain(s, path.Join(folderOf(resource), piece(c.Name())), err)
}

// keepOf removes the files of components that the resource doesn't have.
func (d *Directory) keepOf(resource deploy.Ref, s *reconcile.Session, written Component, undone bool) error {
	var files []string
	for _, c := range s.Components() {
		if c.Disabled() && !d.options.disabled {
			continue
		}
		// Other components are kept: whether they have objects isn't known yet.
		if c.Name() == written.Name && !undone && !d.options.writes(written) {
			continue
		}
		files = append(files, fileOf(resource, Component{Name: c.Name(), Disabled: c.Disabled()}))
	}
	return d.keep(resource, files)
}

// complain logs an error unless the same error was logged last.
func (d *Directory) complain(s *reconcile.Session, about string, err error) {
	if err == nil {
		delete(d.complained, about)
		return
	}
	if d.complained[about] != err.Error() {
		d.complained[about] = err.Error()
		s.Logger().Warn("the rendered component can't be written", "error", err)
	}
}
