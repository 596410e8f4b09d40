# Opens the sockets of systemd and of the journal, which take datagrams, and becomes the program of its arguments.
# Node cannot open such sockets, but it can write to them. perl-base is on every Debian and Ubuntu.
use strict;
use warnings;
use Fcntl;
use Socket;

my @sockets;

# A message that finds no room fails: it must not stop the program.
sub pass {
    my ($variable, $path) = @_;
    socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or return;
    connect($socket, pack_sockaddr_un($path)) or return;
    fcntl($socket, F_SETFL, fcntl($socket, F_GETFL, 0) | O_NONBLOCK);
    fcntl($socket, F_SETFD, 0);
    push @sockets, $socket;
    $ENV{$variable} = fileno($socket);
}

pass('BERTH_NOTIFY_FD', $ENV{NOTIFY_SOCKET} =~ s/^@/\0/r) if $ENV{NOTIFY_SOCKET};
pass('BERTH_JOURNAL_FD', '/run/systemd/journal/socket') if $ENV{JOURNAL_STREAM};
exec(@ARGV) or die "$ARGV[0]: $!\n";
