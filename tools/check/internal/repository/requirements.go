package repository

import (
	"context"
	"encoding/json"
	"fmt"
)

// Requirement is a module that another one requires in its go.mod.
type Requirement struct {
	Path, Version string
	// Indirect says that go.mod marks it so: nothing of the module imports it.
	Indirect bool
}

// Requirements gives what the go.mod of module m requires, in its order.
func (r *Repository) Requirements(ctx context.Context, m Module) ([]Requirement, error) {
	out, err := output(ctx, r.Folder(m), "go", "mod", "edit", "-json")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Dir, err)
	}
	var file struct{ Require []Requirement }
	if err := json.Unmarshal(out, &file); err != nil {
		return nil, fmt.Errorf("%s/go.mod: %w", m.Dir, err)
	}
	return file.Require, nil
}
