package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// inScratch calls do with a temporary folder and removes the folder afterwards.
func inScratch(do func(folder string) error) error {
	folder, err := os.MkdirTemp("", "operkit-peers-vcs-")
	if err != nil {
		return err
	}
	return errors.Join(do(folder), os.RemoveAll(folder))
}

// size returns the total size of all files below a folder.
func size(folder string) (bytes int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}
