// Package changelog reads and writes files of the form of keepachangelog.com: a section for each version under a
// heading of the second level, and one that is called Unreleased for what has come since.
package changelog
