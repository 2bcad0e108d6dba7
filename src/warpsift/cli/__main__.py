from warpsift.cli import main

main()
