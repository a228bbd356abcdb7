package report

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// PutTraps stores the trap results of one operator next to the rounds, and replaces earlier ones. Put the operator's
// round of the same run after them: the store itself doesn't know which programs the results are from.
func (s *Store) PutTraps(operator string, traps []Trap) error {
	err := checkTraps(operator, traps)
	if err == nil {
		err = writeJSON(s.trapPath(operator), traps)
	}
	if err != nil {
		return fmt.Errorf("traps of %s: %w", operator, err)
	}
	return nil
}

// Traps returns the stored results of these operators, one operator after the other. Operators without results are left
// out.
func (s *Store) Traps(operators ...string) ([]Trap, error) {
	var all []Trap
	for _, operator := range operators {
		var traps []Trap
		path := s.trapPath(operator)
		err := readJSON(path, &traps)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			if err = checkTraps(operator, traps); err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, traps...)
	}
	return all, nil
}

func (s *Store) trapPath(operator string) string {
	return filepath.Join(s.folder, "traps."+operator+".json")
}

func checkTraps(operator string, traps []Trap) error {
	if !plain.MatchString(operator) {
		return fmt.Errorf("operator %q: %w", operator, errName)
	}
	for i, trap := range traps {
		if trap.Operator != operator {
			return fmt.Errorf("trap %q is answered by %q", trap.Name, trap.Operator)
		}
		if err := trap.check(traps[:i]); err != nil {
			return fmt.Errorf("trap %q: %w", trap.Name, err)
		}
	}
	return nil
}
