package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Store keeps rounds in a folder, each in a file of its own: <part>.<number>.<operator>.json, and the settings of each
// part next to them. Files are always complete: an interrupted run calls [Store.Has] and continues with the missing
// rounds. Only one run at a time may use a folder; within it, methods may be called concurrently.
type Store struct {
	folder string
	parts  map[string]Settings
}

// Open opens the folder for a run of these parts and creates it if it is missing. If it holds rounds of one of the
// parts that were measured with other settings, Open returns an error that says what to do, and writes nothing. It
// doesn't touch other parts.
func Open(folder string, parts ...Settings) (*Store, error) {
	s := &Store{folder: folder, parts: make(map[string]Settings, len(parts))}
	var fresh []Settings
	for _, part := range parts {
		if err := part.check(); err != nil {
			return nil, err
		}
		if _, twice := s.parts[part.Part]; twice {
			return nil, fmt.Errorf("part %s is named twice: give each part its settings once", part.Part)
		}
		s.parts[part.Part] = part
		kept, err := part.agree(folder)
		if err != nil {
			return nil, err
		}
		if !kept {
			fresh = append(fresh, part)
		}
	}
	for _, part := range fresh {
		if err := part.keep(folder); err != nil {
			return nil, fmt.Errorf("settings of part %s: %w", part.Part, err)
		}
	}
	return s, nil
}

// Forget removes the rounds and the settings of a part from a folder.
func Forget(folder, part string) error {
	paths, err := roundFiles(folder, part)
	for _, path := range append(paths, Settings{Part: part}.path(folder)) {
		if gone := os.Remove(path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// Has reports whether that round is stored. It returns an error if the file can't be read, so that this is noticed
// before hours of further rounds.
func (s *Store) Has(part string, number int, operator string) (bool, error) {
	settings, err := s.settings(part)
	if err == nil {
		err = checkRound(number, operator)
	}
	if err != nil {
		return false, err
	}
	_, err = s.read(settings, s.path(part, number, operator))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Put stores a round of a part, and replaces the round of the same operator and number. Call it when the round is
// complete: from then on Has returns true for it.
func (s *Store) Put(part string, round Round) error {
	settings, err := s.settings(part)
	if err == nil {
		err = round.check()
	}
	if err == nil && round.Bundles != settings.Bundles {
		err = fmt.Errorf("%s: round %d: %d Bundles: the part has %d",
			round.Operator, round.Number, round.Bundles, settings.Bundles)
	}
	if err == nil {
		err = writeJSON(s.path(part, round.Number, round.Operator), round)
	}
	if err != nil {
		return fmt.Errorf("part %s: %w", part, err)
	}
	return nil
}

// Load returns all stored rounds of a part, by number and then by operator. It returns an error with the file's name if
// a file can't be read or doesn't have the round that its name says.
func (s *Store) Load(part string) ([]Round, error) {
	settings, err := s.settings(part)
	if err != nil {
		return nil, err
	}
	paths, err := roundFiles(s.folder, part)
	if err != nil {
		return nil, err
	}
	rounds := make([]Round, 0, len(paths))
	for _, path := range paths {
		round, err := s.read(settings, path)
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, round)
	}
	slices.SortFunc(rounds, func(a, b Round) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Operator, b.Operator))
	})
	return rounds, nil
}

func (s *Store) settings(part string) (Settings, error) {
	settings, ok := s.parts[part]
	if !ok {
		return settings, fmt.Errorf("part %q: the folder wasn't opened for it: give its settings to Open", part)
	}
	return settings, nil
}

func (s *Store) path(part string, number int, operator string) string {
	return filepath.Join(s.folder, fmt.Sprintf("%s.%02d.%s.json", part, number, operator))
}

// read reads a round of a part from its file.
func (s *Store) read(settings Settings, path string) (Round, error) {
	var round Round
	err := readJSON(path, &round)
	if err == nil {
		if err = s.belongs(settings, round, path); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: remove the file to measure the round again", err)
	}
	return round, err
}

// belongs returns an error if a round doesn't belong to the part or to the file.
func (s *Store) belongs(settings Settings, round Round, path string) error {
	if err := round.check(); err != nil {
		return err
	}
	switch {
	case s.path(settings.Part, round.Number, round.Operator) != path:
		return fmt.Errorf("it holds round %d of %s", round.Number, round.Operator)
	case round.Bundles != settings.Bundles:
		return fmt.Errorf("it has %d Bundles and its part %d", round.Bundles, settings.Bundles)
	}
	return nil
}
