package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Settings are the common parameters of a part's rounds. Rounds with other settings can't be compared with them.
type Settings struct {
	// Part is a piece of the benchmark with rounds of its own.
	Part string `json:"part"`
	// Bundles is how many custom resources each round has.
	Bundles int `json:"bundles"`
	// Built is a hash of the measured programs: programs built from other code have another hash.
	Built string `json:"built"`
}

func (s Settings) check() error {
	switch {
	case !plain.MatchString(s.Part):
		return fmt.Errorf("part %q: %w", s.Part, errName)
	case s.Bundles < 1:
		return fmt.Errorf("part %s: %d Bundles: it needs one at least", s.Part, s.Bundles)
	case s.Built == "":
		return fmt.Errorf("part %s: no hash of what is built: without it, rounds of other code would count", s.Part)
	}
	return nil
}

func (s Settings) String() string {
	return fmt.Sprintf("%d Bundles and build %s", s.Bundles, s.Built)
}

// agree returns an error if rounds in folder were measured with other settings. kept reports whether the folder has
// these settings already.
func (s Settings) agree(folder string) (kept bool, err error) {
	path := s.path(folder)
	var there Settings
	err = readJSON(path, &there)
	if errors.Is(err, fs.ErrNotExist) {
		rounds, err := roundFiles(folder, s.Part)
		if err == nil && len(rounds) > 0 {
			err = fmt.Errorf("%s: it is missing, so nobody knows what the rounds next to it measured: %s", path, anew(folder))
		}
		return false, err
	}
	if err != nil {
		return false, fmt.Errorf("%w: %s", err, anew(folder))
	}
	if there != s {
		return false, fmt.Errorf("%s: the rounds of part %s there are of %s, not of %s: %s",
			path, there.Part, there, s, anew(folder))
	}
	return true, nil
}

func (s Settings) path(folder string) string {
	return filepath.Join(folder, s.Part+".settings.json")
}

// keep writes the settings into folder, which it creates if it doesn't exist.
func (s Settings) keep(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return writeJSON(s.path(folder), s)
}

func anew(folder string) string {
	return fmt.Sprintf("remove the folder %s to measure anew, or use another one", folder)
}
